import { parseApps } from "../../dataset/select-apps.ts";
import { EvowebError } from "../../errors.ts";
import type { SourceRequest } from "./source-requests.ts";

/** Which verdicts of the source are asked for again; PARTIAL is not NO. */
export const ONLY = ["missing", "partial", "no", "yes"] as const;
export type Only = (typeof ONLY)[number];

/**
 * Numbers that a list such as "1,3-5" names, or null when there is no list.
 *
 * @throws EvowebError `usage` when it is no such list or leaves 1..count.
 */
export function numbersOf(list: string | undefined, count: number, flag: string): ReadonlySet<number> | null {
  if (list === undefined) return null;
  try {
    return parseApps(list, count);
  } catch (error) {
    if (!(error instanceof EvowebError)) throw error;
    throw new EvowebError("usage", `--${flag} "${list}": give numbers of 1..${count}, such as "1,3-5"`, {
      cause: error,
    });
  }
}

/** The 0-based checks of one request that are judged again; none when the request left no snapshot. */
export function selectChecks(
  source: SourceRequest,
  chosen: { readonly requests: ReadonlySet<number> | null; readonly only?: readonly Only[] },
): readonly number[] {
  const { request, snapshot, verdicts } = source;
  if (snapshot === null || chosen.requests?.has(request.number) === false) return [];
  const indexes = request.checks.map((_, index) => index);
  const { only } = chosen;
  if (only === undefined) return indexes;
  const wanted: ReadonlySet<string> = new Set(only.map((word) => word.toUpperCase()));
  return indexes.filter((index) => wanted.has(verdicts.get(index)?.verdict ?? "MISSING"));
}
