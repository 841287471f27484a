import { rowHash } from "../dataset/content-hash.ts";
import type { SampledRow } from "../dataset/row.ts";
import type { AgentSession } from "./agent.ts";
import { sha256, type AppTrace } from "./app-trace.ts";
import { isInfra, retryInfra } from "./infra-retry.ts";
import { judgeRequest } from "./judge-request.ts";
import type { JudgeContext, JudgeJob, Tally } from "./judging.ts";
import type { AppProgress, NextStep } from "./progress.ts";
import type { Place } from "./sandbox.ts";
import type { Snapshot, SnapshotStore } from "./snapshot-store.ts";
import { restoreWorkspace, takeTurn } from "./take-turn.ts";
import type { TurnWatch } from "./turn-watch.ts";

/** Everything one app's sequence needs. */
export interface AppRun {
  readonly sampled: SampledRow;
  readonly progress: AppProgress;
  readonly store: SnapshotStore;
  readonly trace: AppTrace;
  readonly watch: TurnWatch;
  readonly openWorkspace: () => Promise<Place>;
  readonly openSession: (place: Place) => Promise<AgentSession>;
  readonly judging: (snapshot: Pick<Snapshot, "sha" | "tree">) => JudgeContext;
  readonly observation: "locf" | "sweep";
  /** Judge again what has no verdict in finished requests. */
  readonly retryMissing: boolean;
  /** Why the app must stop before its next request, or null. */
  readonly stopCause: () => string | null;
  readonly signal: AbortSignal;
}

/** Drives one app through its requests, from wherever its trace ends. */
export async function runApp(run: AppRun): Promise<void> {
  const { sampled, progress, trace } = run;
  const requests = sampled.row.requests;
  const lost = run.retryMissing ? progress.missing : [];
  if (progress.isComplete && lost.length === 0) return;
  trace.emit(1, { type: "app_started", rowHash: rowHash(sampled.row) });
  for (const step of lost) await judgeAgain(run, step);
  if (progress.next !== null) {
    await using place = await retryInfra(() => run.openWorkspace(), run.signal);
    await using session = await run.openSession(place);
    const from = progress.next.request;
    const restored = { ...run, place, dir: trace.dir };
    await restoreWorkspace(restored, progress.next.stage === "judge" ? from : from - 1);
    for (const { number } of requests.slice(from - 1)) {
      const step = number === from ? progress.next : firstStep(number);
      const failure = await runRequest(run, { place, session, step });
      if (failure !== null) return stop(run, failure);
    }
  }
  if (run.observation === "sweep" && !progress.isComplete) await sweep(run);
  trace.emit(1, { type: "app_finished", status: "complete" });
  trace.sync();
}

function stop({ trace }: AppRun, cause: string): void {
  trace.emit(1, { type: "app_finished", status: "stopped", cause });
  trace.sync();
}

/** A new pass over the checks of a finished request that have no verdict; what stands in the trace stays. */
async function judgeAgain(run: AppRun, { request: number, attempt, pass, judged }: NextStep): Promise<void> {
  const request = run.sampled.row.requests[number - 1];
  if (request === undefined) throw new RangeError(`row ${run.sampled.row.id} has no request ${number}`);
  await judgeSnapshot(run, { request, attempt, pass, judged, isSweep: false });
}

function firstStep(request: number): NextStep {
  return { request, attempt: 1, stage: "agent", judged: new Set(), pass: 1 };
}

interface Step {
  readonly place: Place;
  readonly session: AgentSession;
  readonly step: NextStep;
}

/** One request: turn, snapshot, verdicts. Returns why the app cannot go on, or null. */
async function runRequest(run: AppRun, { place, session, step }: Step): Promise<string | null> {
  const { trace, store } = run;
  const cause = run.stopCause();
  if (cause !== null) return cause;
  const request = run.sampled.row.requests[step.request - 1];
  if (request === undefined) throw new RangeError(`row ${run.sampled.row.id} has no request ${step.request}`);
  const started = performance.now();
  let { attempt } = step;
  const input = { request: request.number, text: request.instruction, sha256: sha256(request.instruction) };
  if (step.stage === "agent") {
    try {
      attempt = await retryInfra(async (tryNumber) => {
        const current = step.attempt + tryNumber - 1;
        if (tryNumber > 1) await restoreWorkspace({ ...run, place, dir: trace.dir }, request.number - 1);
        await takeTurn({ session, place, store, trace, watch: run.watch, input, signal: run.signal }, current);
        return current;
      }, run.signal);
    } catch (error) {
      if (!isInfra(error)) throw error;
      return `infra: ${error.message}`;
    }
  }
  const tally = await judgeSnapshot(run, { request, attempt, pass: step.pass, judged: step.judged, isSweep: false });
  finishRequest(run, { number: request.number, attempt, tally, durationMs: performance.now() - started });
  return null;
}

async function judgeSnapshot(run: AppRun, job: JudgeJob, number = job.request.number): Promise<Tally> {
  const sha = await run.store.find(number);
  if (sha === null) throw new RangeError(`request ${number} of row ${run.sampled.row.id} has no snapshot to judge`);
  return judgeRequest(run.judging({ sha, tree: await run.store.treeOf(sha) }), job);
}

interface Finished {
  readonly number: number;
  readonly attempt: number;
  readonly tally: Tally;
  readonly durationMs: number;
}

function finishRequest({ trace }: AppRun, { number, attempt, tally, durationMs }: Finished): void {
  trace.emit(attempt, {
    type: "request_finished",
    request: number,
    durationMs: Math.round(durationMs),
    starts: tally.starts,
    startMs: Math.round(tally.startMs),
    browserMs: Math.round(tally.browserMs),
  });
  trace.sync();
}

/** All own checks once more on the last snapshot. */
async function sweep(run: AppRun): Promise<void> {
  const { requests } = run.sampled.row;
  for (const request of requests) {
    const backward = request.checks.flatMap((check, index) => (check.role === "backward" ? [index] : []));
    const job = { request, attempt: 1, pass: 1, judged: new Set(backward), isSweep: true };
    await judgeSnapshot(run, job, requests.length);
  }
}
