import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SampledRow } from "../../src/dataset/row.ts";
import type { TraceFact, Verdict } from "../../src/trace/event.ts";
import { appDirName, createRunFolder } from "../../src/trace/run-folder.ts";
import { makeEvent, ranRequest, SAMPLE_RUN, toJsonl } from "../trace/sample-events.ts";

/** Five times the same verdict, for the five checks of a request. */
export const five = (verdict: Verdict): Verdict[] => [verdict, verdict, verdict, verdict, verdict];

/** Writes a run folder; of each app, the verdicts of the requests that ran (null: the app never ran). */
export function writeRun(
  dir: string,
  rows: readonly SampledRow[],
  turns: readonly (readonly (readonly Verdict[])[] | null)[],
): string {
  createRunFolder(dir, SAMPLE_RUN, rows);
  for (const [index, requests] of turns.entries()) {
    if (requests === null) continue;
    const facts: TraceFact[] = requests.flatMap((verdicts, request) => ranRequest(request + 1, verdicts));
    writeTrace(dir, index + 1, facts);
  }
  return dir;
}

/** Writes the trace of one app; returns its path. */
export function writeTrace(dir: string, sampleIndex: number, facts: readonly TraceFact[]): string {
  mkdirSync(join(dir, appDirName(sampleIndex)), { recursive: true });
  const path = join(dir, appDirName(sampleIndex), "trace.jsonl");
  writeFileSync(path, toJsonl(facts.map((fact) => makeEvent(fact, { sampleIndex }))));
  return path;
}
