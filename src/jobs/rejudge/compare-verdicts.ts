import { join } from "node:path";
import { existsSync } from "node:fs";
import { countFlips, type Flips } from "../../scoring/flips.ts";
import type { Verdict } from "../../trace/event.ts";
import { readTrace } from "../../trace/reader.ts";
import { appDirName } from "../../trace/run-folder.ts";
import { sourceEvents, type Source } from "./open-source.ts";
import { readSourceRequests, type Judged } from "./source-requests.ts";

/** One check that another judgement decided otherwise. */
interface Change {
  readonly sampleIndex: number;
  readonly request: number;
  readonly check: number;
  readonly from: Verdict;
  readonly to: Verdict;
}

/** New verdicts beside those of the source. */
export interface Changes {
  /** Checks that were judged again. */
  readonly judged: number;
  /** Checks whose verdict was carried over. */
  readonly carried: number;
  /** Checks whose new verdict (of the last pass) is another one; a check without a verdict was MISSING. */
  readonly changed: readonly Change[];
  /** How the passes of this job agree with each other; its rate is null with one pass. */
  readonly flips: Flips;
}

/** Compares the verdicts of a run that judged a source again with those of the source. */
export function compareVerdicts(source: Source, dir: string): Changes {
  const changed: Change[] = [];
  const passes: Verdict[][] = [];
  let carried = 0;
  for (const { sampleIndex, row } of source.plan.rows) {
    const path = join(dir, appDirName(sampleIndex), "trace.jsonl");
    if (!existsSync(path)) continue;
    const { events } = readTrace(path, sampleIndex);
    for (const { request, attempt, verdicts, nextPass } of readSourceRequests(row, sourceEvents(source, sampleIndex))) {
      for (const check of request.checks.keys()) {
        const from = verdicts.get(check)?.verdict ?? "MISSING";
        const isNew = (event: Judged): boolean =>
          event.request === request.number &&
          event.check === check &&
          event.attempt === attempt &&
          event.pass >= nextPass;
        const found = events.flatMap((event) =>
          event.type === "check_judged" && event.sweep !== true && isNew(event) ? [event.verdict] : [],
        );
        const to = found.at(-1);
        if (to === undefined) carried += 1;
        else passes.push(found);
        if (to !== undefined && to !== from) changed.push({ sampleIndex, request: request.number, check, from, to });
      }
    }
  }
  return { judged: passes.length, carried, changed, flips: countFlips(passes) };
}
