import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TraceEvent } from "../../trace/event.ts";
import { readTrace } from "../../trace/reader.ts";
import { appDirName } from "../../trace/run-folder.ts";

/** Folder of a run where blaming keeps what it saw; its parts are named as those of the run. */
export function blameDir(runDir: string): string {
  return join(runDir, "blame");
}

/** What blaming has seen of an app, and where its evidence is. */
export function readBlamed(
  runDir: string,
  sampleIndex: number,
): { readonly dir: string; readonly events: readonly TraceEvent[] } {
  const dir = join(blameDir(runDir), appDirName(sampleIndex));
  const path = join(dir, "trace.jsonl");
  return { dir, events: existsSync(path) ? readTrace(path, sampleIndex).events : [] };
}
