import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { preflight } from "../judge/preflight.ts";
import type { ModelUsage } from "../model/chat.ts";
import type { FileRef, TraceFact } from "../trace/event.ts";
import { isInfra, retryInfra, triesOf } from "./infra-retry.ts";
import { judgeOneCheck } from "./judge-one-check.ts";
import {
  evidenceDir,
  type IndexedCheck,
  type JudgeContext,
  type JudgeJob,
  type Ruling,
  type Tally,
} from "./judging.ts";
import type { RunningApp } from "./running-app.ts";
import type { PreparedApp } from "./serve.ts";

/** Installs, starts and judges the app of one snapshot; every check ends as one event. */
export async function judgeRequest(context: JudgeContext, job: JudgeJob): Promise<Tally> {
  const tally: Tally = { starts: 0, startMs: 0, browserMs: 0 };
  const pending = job.request.checks
    .map((check, index): IndexedCheck => ({ check, index }))
    .filter(({ index }) => !job.judged.has(index));
  const ruleAll = (ruling: Ruling): void => pending.forEach((one) => emitRuling(context, job, { one, ruling }));
  try {
    const prepared = await retryInfra(() => context.prepare(), context.signal);
    if (prepared.log !== "") context.trace.writeText(`${evidenceDir(job)}/install.log`, prepared.log);
    if (prepared.status === "down") ruleAll(reportDown(context, job, prepared));
    else await judgePrepared(context, job, { prepared, pending, tally, ruleAll });
  } catch (error) {
    if (!isInfra(error)) throw error;
    const evidence = [context.trace.writeText(`${evidenceDir(job)}/infra.txt`, `${error.message}\n`)];
    ruleAll({ verdict: "MISSING", cause: "infra", class: "sandbox", tries: triesOf(error), durationMs: 0, evidence });
  }
  return tally;
}

interface Prepared {
  readonly prepared: PreparedApp;
  readonly pending: readonly IndexedCheck[];
  readonly tally: Tally;
  readonly ruleAll: (ruling: Ruling) => void;
}

async function judgePrepared(context: JudgeContext, job: JudgeJob, app: Prepared): Promise<void> {
  const { prepared, pending, tally, ruleAll } = app;
  const look = await context.slots(() => lookOnce(context, job, { prepared, tally }));
  if ("verdict" in look) return ruleAll(look);
  await using shared = look.shared;
  const judgeOne = async (one: IndexedCheck): Promise<void> => {
    const ruling = await judgeOneCheck(context, job, { one, prepared, shared, tally });
    emitRuling(context, job, { one, ruling });
  };
  if (context.isolation === "request") {
    // In their order: what one check leaves behind is what the next one finds.
    for (const one of pending) await context.slots(() => judgeOne(one));
    return;
  }
  const judged = await Promise.allSettled(pending.map((one) => context.slots(() => judgeOne(one))));
  const failed = judged.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

type Look = Ruling | { readonly shared: RunningApp | null };

/** Starts the app for the first time and looks at it once, without a judge: does it answer, is there anything to see? */
async function lookOnce(
  context: JudgeContext,
  job: JudgeJob,
  { prepared, tally }: Pick<Prepared, "prepared" | "tally">,
): Promise<Look> {
  const running = await retryInfra(() => context.start(prepared), context.signal);
  if (running.status === "down") return reportDown(context, job, running);
  tally.starts += 1;
  tally.startMs += running.startMs;
  const ruling = await lookAt(context, job, running).catch(async (error: unknown) => {
    await running[Symbol.asyncDispose]();
    throw error;
  });
  // Plain files have no state: one start serves all checks, whatever the isolation.
  const isShared = prepared.plan.start.kind === "static" || context.isolation === "request";
  if (ruling === null && isShared) return { shared: running };
  await running[Symbol.asyncDispose]();
  return ruling ?? { shared: null };
}

/** One look at a running app. Gives the ruling for all checks when there is nothing to judge. */
async function lookAt(context: JudgeContext, job: JudgeJob, running: RunningApp): Promise<Ruling | null> {
  const { trace, pool, mask, signal, judge, rowId } = context;
  const folder = evidenceDir(job);
  mkdirSync(join(trace.dir, folder), { recursive: true });
  const started = performance.now();
  const seen = await preflight({
    pool,
    target: { url: running.url, proxyServer: running.proxy.server },
    evidenceDir: join(trace.dir, folder),
    signal,
    mask,
  });
  const durationMs = performance.now() - started;
  const appLog = trace.writeText(`${folder}/app.log`, running.log().text);
  const evidence = [...seen.evidenceFiles.map((file) => trace.refer(`${folder}/${file}`)), appLog];
  if (seen.decides && seen.verdict === "NO" && DOWN_CLASSES.has(seen.class)) {
    const facts = { reason: seen.evidence, httpStatus: seen.status ?? null, command: running.command };
    return reportDown(context, job, { class: seen.class, evidence: facts, files: evidence });
  }
  const { startMs, httpStatus: status, port, command } = running;
  const request = job.request.number;
  if (!job.isSweep) {
    trace.emit(job.attempt, { type: "app_up", request, startMs: Math.round(startMs), status, port, command });
  }
  if (seen.decides) {
    const cause = seen.verdict === "NO" ? "judged" : seen.cause;
    return { verdict: seen.verdict, cause, class: seen.class, tries: 1, durationMs, evidence };
  }
  if (judge?.canJudge(rowId) === true) return null;
  return { verdict: "MISSING", cause: "no_oracle", tries: 0, durationMs: 0, evidence };
}

type CheckJudged = Extract<TraceFact, { type: "check_judged" }>;

// Everything else that a look decides is about an app that answers: it is up, and its checks are NO.
const DOWN_CLASSES: ReadonlySet<string> = new Set(["http_error", "no_answer"]);

interface Down {
  readonly class: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly files?: readonly FileRef[];
}

function reportDown({ trace }: JudgeContext, job: JudgeJob, down: Down): Ruling {
  const facts = { class: down.class, ...down.evidence };
  const file = trace.writeText(`${evidenceDir(job)}/app-down.json`, `${JSON.stringify(facts, undefined, 2)}\n`);
  if (!job.isSweep) {
    const request = job.request.number;
    trace.emit(job.attempt, { type: "app_down", request, class: down.class, evidence: { ...down.evidence } });
  }
  const evidence = [file, ...(down.files ?? [])];
  return { verdict: "NO", cause: "app_down", class: down.class, tries: 1, durationMs: 0, evidence };
}

function spent(usage: ModelUsage | null): Pick<CheckJudged, "usage" | "costUsd"> {
  if (usage === null) return { usage: null };
  const { calls, inputTokens, outputTokens, costUsd } = usage;
  const tokens = {
    ...(inputTokens === null ? {} : { inputTokens }),
    ...(outputTokens === null ? {} : { outputTokens }),
  };
  return { usage: { calls, ...tokens }, costUsd };
}

/** Writes one verdict into the trace. */
export function emitRuling(
  { trace, judge }: Pick<JudgeContext, "trace" | "judge">,
  { request, attempt, pass, isSweep, snapshot }: JudgeJob,
  { one, ruling }: { readonly one: IndexedCheck; readonly ruling: Ruling },
): void {
  trace.emit(attempt, {
    type: "check_judged",
    request: request.number,
    check: one.index,
    pass,
    ...(isSweep ? { sweep: true } : {}),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...ruling,
    ...spent(ruling.usage ?? null),
    ...(judge === null ? {} : { judge: { name: judge.name, hash: judge.hash } }),
    durationMs: Math.round(ruling.durationMs),
    evidence: [...ruling.evidence],
  });
}
