import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EvowebError } from "../../errors.ts";
import type { Evidence, Judge } from "../../judge/judge.ts";
import { EVIDENCE_FILE, readStoredEvidence } from "../../judge/stored-evidence.ts";
import type { AppTrace } from "../../runner/app-trace.ts";
import { emitRuling } from "../../runner/judge-request.ts";
import { evidenceDir, type JudgeJob } from "../../runner/judging.ts";
import { copyEvidence } from "./carry-over.ts";
import type { Judged, SourceRequest } from "./source-requests.ts";

/** Where stored evidence is and who rules on it. */
export interface RulingAgain {
  readonly judge: Judge;
  readonly trace: AppTrace;
  /** The app's folder in the source. */
  readonly sourceDir: string;
  readonly rowId: string;
  readonly signal: AbortSignal;
}

// Decided by the app's state, which no ruling changes.
const NOT_RULED: ReadonlySet<string> = new Set(["app_down", "no_artifact", "infra"]);

/**
 * The evidence of a verdict that its judge ruled on; null when it was decided without a ruling or nothing was stored.
 *
 * @throws EvowebError `trace` when the file is damaged.
 */
export function ruledEvidence(sourceDir: string, verdict: Judged): Evidence | null {
  const path = pathOf(verdict);
  return path === null || NOT_RULED.has(verdict.cause) ? null : readStoredEvidence(join(sourceDir, path));
}

function pathOf({ evidence }: Judged): string | null {
  return evidence.find(({ path }) => basename(path) === EVIDENCE_FILE && !path.split("/").includes(".."))?.path ?? null;
}

/**
 * Refuses evidence that another kind of judge collected: what a judge records, only its own kind can read.
 *
 * @throws EvowebError `usage`.
 */
export function requireOwnEvidence(judge: Judge, made: string | undefined, runDir: string): void {
  if (made === undefined || made === judge.name) return;
  throw new EvowebError(
    "usage",
    `the evidence in ${runDir} was collected by the judge ${made}, and ${judge.name} cannot rule on it. ` +
      `Use --judge ${made}, or leave --from evidence out so that the apps are looked at again`,
  );
}

/** Rules once more on the stored evidence of some checks of a request; no app, browser or sandbox takes part. */
export async function ruleAgain(again: RulingAgain, source: SourceRequest, job: JudgeJob): Promise<void> {
  for (const [index, check] of job.request.checks.entries()) {
    const verdict = job.judged.has(index) ? undefined : source.verdicts.get(index);
    if (verdict !== undefined) await ruleOnCheck(again, { job, index, check, verdict });
  }
}

interface OneCheck {
  readonly job: JudgeJob;
  readonly index: number;
  readonly check: JudgeJob["request"]["checks"][number];
  readonly verdict: Judged;
}

async function ruleOnCheck(again: RulingAgain, { job, index, check, verdict }: OneCheck): Promise<void> {
  const { judge, trace, sourceDir, rowId, signal } = again;
  signal.throwIfAborted();
  const evidence = ruledEvidence(sourceDir, verdict);
  const path = pathOf(verdict);
  if (evidence === null || path === null) throw new TypeError("a verdict without evidence was to be ruled on again");
  const folder = `${evidenceDir(job)}/checks/${index}`;
  const from = join(sourceDir, dirname(path));
  const names = [EVIDENCE_FILE, "steps.jsonl", ...evidence.files].filter((name) => existsSync(join(from, name)));
  for (const name of names) copyEvidence(name, from, join(trace.dir, folder));
  const started = performance.now();
  const { request } = job;
  const result = await judge.rule({
    rowId,
    request: request.number,
    checkIndex: index,
    check,
    sample: `${job.sample ?? job.pass}.1`,
    evidence,
    evidenceDir: join(trace.dir, folder),
    signal,
  });
  const kind =
    result.class ?? (result.verdict === "PARTIAL" || result.verdict === "NO" ? "wrong_behaviour" : undefined);
  const ruling = {
    verdict: result.verdict,
    cause: result.cause,
    ...(kind === undefined ? {} : { class: kind }),
    tries: 1,
    durationMs: performance.now() - started,
    evidence: names.map((name) => trace.refer(`${folder}/${name}`)),
    usage: result.usage ?? null,
    ...(result.rules === undefined ? {} : { rules: result.rules }),
  };
  emitRuling({ trace, judge }, job, { one: { check, index }, ruling });
}
