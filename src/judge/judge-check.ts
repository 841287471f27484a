import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EvowebError, messageOf } from "../errors.ts";
import { maskFiles } from "./mask-files.ts";
import { EVIDENCE_FILE } from "./stored-evidence.ts";
import { settledWithin } from "./browser-process.ts";
import type { BrowserPool } from "./browser-pool.ts";
import type { BrowserSession, PageNote, SessionEnd, SessionTarget } from "./browser-session.ts";
import { addUsage } from "../model/usage.ts";
import type { ModelUsage } from "../model/chat.ts";
import type { CheckResult, Evidence, Judge, JudgeTask, PointResult } from "./judge.ts";

const MAX_TRIES = 3;
const PICTURE = "screenshot.webp";
const PICTURE_LIMIT_MS = 6000;
const RESPONSE_LIMIT_MS = 3000;

/** Masks secrets in one text before it is written. */
export type Mask = (text: string) => string;

/** What `judgeCheck` needs besides the judge. */
export interface JudgeCheckOptions {
  readonly pool: BrowserPool;
  readonly task: JudgeTask;
  readonly mask?: Mask;
  /**
   * Brings the app's data back to what they were before the first try, for what a broken try did to them must not count;
   * resolves with where the app is then. Default: goes on with the same app.
   */
  beforeRetry?(): Promise<SessionTarget>;
}

/** A decided check with what was seen. */
export interface JudgedCheck {
  readonly result: CheckResult;
  readonly evidence: Evidence;
  /** Files to keep, relative to the check's folder: `steps.jsonl`, `screenshot.webp`, downloads. */
  readonly evidenceFiles: readonly string[];
  readonly tries: number;
  readonly durationMs: number;
  /** Time inside browser calls, all tries together. */
  readonly browserMs: number;
  /** What all tries took of a model, observing and ruling; null when none took part. */
  readonly usage: ModelUsage | null;
  /** Notes of the last try. */
  readonly notes: readonly PageNote[];
}

/** How one try went. */
interface Try {
  readonly result: CheckResult;
  readonly evidence: Evidence;
  /** Whether the judge ruled; else the browser's state decided. */
  readonly isRuled: boolean;
  readonly notes: readonly PageNote[];
}

type Observed =
  | { readonly how: "seen"; readonly evidence: Evidence }
  | { readonly how: "ended"; readonly end: SessionEnd }
  | { readonly how: "late" };

async function observeWithin(judge: Judge, task: JudgeTask, session: BrowserSession): Promise<Observed> {
  const timer = new AbortController();
  const signal = AbortSignal.any([timer.signal, task.signal]);
  const late = delay(task.timeoutMs, { how: "late" } as const, { signal });
  const ended = session.ended.then((end) => ({ how: "ended", end }) as const);
  const see = async (): Promise<Observed> => {
    try {
      return { how: "seen", evidence: await judge.observe(task, session) };
    } catch (error) {
      if (session.end !== undefined) return ended;
      throw error;
    }
  };
  const seen = see();
  try {
    return await Promise.race([seen, late, ended]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
    // The judge may still be in a call; closing the session ends it.
    seen.catch(() => undefined);
  }
}

/** What the browser's state decides. */
type Decision = Pick<Try, "result" | "evidence">;

const appPoint = (point: string, saw: string): PointResult => ({ point, met: false, saw });

/** The app's own doing: the check is decided, and the point says why. */
function decidedAgainst(session: BrowserSession, className: string, point: PointResult): Decision {
  return {
    result: { verdict: "NO", cause: "judged", class: className },
    evidence: { points: [point], files: session.files(), browserMs: session.browserMs() },
  };
}

function undecided(session: BrowserSession, result: Omit<CheckResult, "verdict">): Decision {
  return {
    result: { verdict: "MISSING", ...result },
    evidence: { points: [], files: session.files(), browserMs: session.browserMs() },
  };
}

/** A page that runs no script at the deadline is the app's fault; otherwise the limit was ours, and nothing is known. */
async function ruleLate(session: BrowserSession, timeoutMs: number): Promise<Decision> {
  session.note(`the check's limit of ${timeoutMs} ms is over`);
  if (!(await session.isResponsive(RESPONSE_LIMIT_MS))) {
    const saw = `no answer in ${RESPONSE_LIMIT_MS} ms, after ${timeoutMs} ms`;
    return decidedAgainst(session, "page_hung", appPoint("the page answers", saw));
  }
  await session.screenshot(PICTURE, PICTURE_LIMIT_MS);
  return undecided(session, { cause: "budget", class: "time_limit" });
}

function ruleEnded(session: BrowserSession, end: SessionEnd): Decision {
  if (end.who === "infra") return undecided(session, { cause: "infra", class: end.class });
  return decidedAgainst(session, end.class, appPoint("the page can be used", end.text));
}

/** What was seen and is to be ruled on once the browser session is closed. */
type Pending = { readonly evidence: Evidence; readonly result?: undefined };
type Decided = Decision | Pending;

/** What is there to rule on. Judges note a call that failed as a point, so a session that broke meanwhile comes first. */
async function closeSeen(session: BrowserSession, evidence: Evidence): Promise<Decided> {
  const isAllMet = evidence.points.length > 0 && evidence.points.every((point) => point.met);
  const hasPicture = session.end === undefined && (await session.screenshot(PICTURE, PICTURE_LIMIT_MS));
  // A browser or page that dies rejects its calls a moment before it is known to be gone.
  if (!hasPicture && !isAllMet) await settledWithin(session.ended, 500);
  if (session.end !== undefined && !isAllMet) return ruleEnded(session, session.end);
  return { evidence };
}

async function tryOnce(judge: Judge, pool: BrowserPool, task: JudgeTask): Promise<Try> {
  const { evidenceDir, target } = task;
  const size = judge.viewport === undefined ? {} : { viewport: judge.viewport };
  const session = await pool.openSession(target, { evidenceDir, ...size });
  let decided: Decided;
  try {
    const observed = await observeWithin(judge, task, session);
    if (observed.how === "ended") decided = ruleEnded(session, observed.end);
    else if (observed.how === "late") decided = await ruleLate(session, task.timeoutMs);
    else decided = await closeSeen(session, observed.evidence);
  } finally {
    await session[Symbol.asyncDispose]();
  }
  const evidence = { ...decided.evidence, files: session.files() };
  const result = decided.result ?? (await judge.rule({ ...task, evidence }));
  return { result, evidence, isRuled: decided.result === undefined, notes: session.notes };
}

/** Whether another try may end better. Only what is not the app's doing is tried again, and a crashed page, which may be either's. */
function isWorthRetry({ result }: Try): boolean {
  if (result.cause === "infra" || result.cause === "judge_error") return true;
  return result.class === "page_crashed";
}

async function guardedTry(
  judge: Judge,
  options: JudgeCheckOptions,
  own: Pick<JudgeTask, "target" | "sample">,
): Promise<Try> {
  const { pool, task } = options;
  try {
    return await tryOnce(judge, pool, { ...task, ...own });
  } catch (error) {
    task.signal.throwIfAborted();
    if (error instanceof EvowebError) throw error;
    // Playwright itself failed: the browser could not give us a page, or went away between two calls.
    const text = messageOf(error).slice(0, 500);
    return {
      result: { verdict: "MISSING", cause: "infra", class: "browser" },
      evidence: { points: [], files: [], browserMs: 0 },
      isRuled: false,
      notes: [{ atMs: 0, kind: "judge", text }],
    };
  }
}

const withoutPoints = (result: CheckResult): object => ({ ...result, points: undefined });

function stepLines(tries: readonly Try[], mask: Mask): string {
  const lines = tries.flatMap(({ notes, evidence, result }, index) => [
    ...notes.map((note) => ({ try: index + 1, ...note, text: mask(note.text) })),
    ...evidence.points.map((point) => ({
      try: index + 1,
      kind: "point",
      ...point,
      point: mask(point.point),
      saw: mask(point.saw),
    })),
    ...(evidence.fault === undefined
      ? []
      : [{ try: index + 1, kind: "fault", class: evidence.fault.class, text: mask(evidence.fault.text) }]),
    ...(result.points ?? []).map((point) => ({
      try: index + 1,
      kind: "ruled",
      ...point,
      point: mask(point.point),
      saw: mask(point.saw),
    })),
    { try: index + 1, kind: "result", ...withoutPoints(result), browserMs: evidence.browserMs },
  ]);
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/**
 * Judges one check: a fresh session, the judge's observation within the task's limit, the ruling, a picture, `steps.jsonl`.
 * Faults of the browser or the judge are tried again in a fresh browser, two times at most, and then give MISSING. A check that
 * runs out of time is MISSING (`budget`), unless the page itself no longer answers (NO, `page_hung`) or opens dialogs without
 * end (NO, `dialog_loop`). Throws `EvowebError`s of the harness, and the signal's reason when it is aborted.
 */
export async function judgeCheck(judge: Judge, options: JudgeCheckOptions): Promise<JudgedCheck> {
  const { task, pool, mask = (text) => text } = options;
  const startedAt = performance.now();
  const tries: Try[] = [];
  let target = task.target;
  let last: Try | undefined;
  while (last === undefined || (isWorthRetry(last) && tries.length < MAX_TRIES)) {
    task.signal.throwIfAborted();
    if (last !== undefined) {
      if (last.result.cause !== "judge_error") pool.recycle();
      target = (await options.beforeRetry?.()) ?? target;
    }
    last = await guardedTry(judge, options, { target, sample: `${task.sample}.${tries.length + 1}` });
    tries.push(last);
  }
  await maskFiles(task.evidenceDir, last.evidence.files, mask);
  await writeFile(join(task.evidenceDir, "steps.jsonl"), stepLines(tries, mask));
  await writeFile(
    join(task.evidenceDir, EVIDENCE_FILE),
    mask(`${JSON.stringify({ ...last.evidence, isRuled: last.isRuled })}\n`),
  );
  return {
    result: last.result,
    evidence: last.evidence,
    evidenceFiles: ["steps.jsonl", EVIDENCE_FILE, ...last.evidence.files],
    tries: tries.length,
    durationMs: Math.round(performance.now() - startedAt),
    browserMs: tries.reduce((sum, { evidence }) => sum + evidence.browserMs, 0),
    usage: addUsage(tries.flatMap(({ evidence, result }) => [evidence.usage, result.usage])),
    notes: last.notes,
  };
}
