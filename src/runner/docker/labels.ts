import { z } from "zod";
import { isAlive, Owner } from "../lease.ts";

/** On every container and volume of a run. */
export const OWNER_LABEL = "evoweb.owner";
const RUN_LABEL = "evoweb.run";
const PLACE_LABEL = "evoweb.place";

/** Whose a container or volume is. */
export interface Ownership {
  readonly runId: string;
  readonly owner: Owner;
}

/** Labels for a container or volume of a place. */
export function labelsFor(ownership: Ownership, place: string): Record<string, string> {
  return { [OWNER_LABEL]: JSON.stringify(ownership.owner), [RUN_LABEL]: ownership.runId, [PLACE_LABEL]: place };
}

/** The owner named by labels; undefined when there is none that can be read. */
function ownerIn(labels: Readonly<Record<string, string>> | null | undefined): Owner | undefined {
  try {
    return Owner.parse(JSON.parse(z.string().parse(labels?.[OWNER_LABEL])));
  } catch {
    return undefined;
  }
}

/** Whether labels name an owner of ours that is no more. */
export function isLeftover(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  const owner = ownerIn(labels);
  return owner !== undefined && !isAlive(owner);
}
