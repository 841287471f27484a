import { existsSync } from "node:fs";
import { join } from "node:path";
import { progressOf } from "../runner/progress.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName, readRunPlan } from "../trace/run-folder.ts";

/** Whether a run folder is there and every planned app has run to its end. Throws as `readRunPlan` and `readTrace`. */
export function isRunFinished(dir: string): boolean {
  if (!existsSync(join(dir, "run.json"))) return false;
  return readRunPlan(dir).rows.every(({ sampleIndex, row }) => {
    const path = join(dir, appDirName(sampleIndex), "trace.jsonl");
    return existsSync(path) && progressOf(readTrace(path, sampleIndex).events, row.requests.length).isComplete;
  });
}
