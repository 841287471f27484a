import { existsSync, statSync } from "node:fs";
import { inspectRows, requireApps } from "../dataset/read-rows.ts";
import type { SampledRow } from "../dataset/row.ts";
import { readFileText, readJsonLines } from "./jsonl.ts";
import type { FileText } from "./jsonl.ts";
import { readSampledRows } from "./run-folder.ts";

/** Whether a file of rows is that of a run, which numbers its rows itself. */
function isPlan(file: FileText): boolean {
  const indexes: unknown[] = [];
  readJsonLines(file, ({ value }) => indexes.push(value["sampleIndex"]));
  return indexes[0] !== undefined;
}

/**
 * Reads rows with their sample indexes, from a data set's file or folder or from the `rows.jsonl` of a run. Throws `dataset`, `trace`
 * or `io`.
 */
export async function readPlannedRows(path: string): Promise<readonly SampledRow[]> {
  if (existsSync(path) && statSync(path).isFile() && isPlan(readFileText(path))) return readSampledRows(path);
  return requireApps(await inspectRows(path));
}
