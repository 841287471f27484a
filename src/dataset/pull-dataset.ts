import { EvowebError } from "../errors.ts";
import { pullHub, type PulledHub } from "./hub/pull-hub.ts";
import { isHubName, type SourceOptions } from "./locate-rows.ts";

/** A data set of the Hub that is on this machine now. */
export type PulledDataset = PulledHub;

/**
 * Brings a data set of the Hub to this machine: one split, or all of the wanted configuration, or everything it lists.
 *
 * @throws EvowebError `usage` when `name` is not `owner/name`, `dataset` with what to do when it cannot be had.
 */
export async function pullDataset(name: string, options: SourceOptions): Promise<PulledDataset> {
  if (!isHubName(name)) {
    const message = `"${name}" is no dataset of the Hub (owner/name); built-in datasets and files are here already`;
    throw new EvowebError("usage", message);
  }
  const { hub, ...wanted } = options;
  return pullHub({ ...wanted, repo: name, access: hub ?? {} }, true);
}
