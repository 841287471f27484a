import type { ChangeRequest, Check } from "../dataset/row.ts";
import type { BrowserPool } from "../judge/browser-pool.ts";
import type { Judge } from "../judge/judge.ts";
import type { ModelUsage } from "../model/chat.ts";
import type { FileRef, Verdict } from "../trace/event.ts";
import type { Mask } from "../trace/mask.ts";
import type { AppDown } from "./app-down.ts";
import type { Slots } from "./check-slots.ts";
import { requestDir, type AppTrace } from "./app-trace.ts";
import type { RunningApp } from "./running-app.ts";
import type { PreparedApp } from "./serve.ts";

/** What stays the same while an app's requests are judged. */
export interface JudgeContext {
  readonly rowId: string;
  /** Null: nothing is judged; the app is still started, so that `up` is known. */
  readonly judge: Judge | null;
  readonly pool: BrowserPool;
  readonly trace: AppTrace;
  readonly mask: Mask;
  readonly isolation: "check" | "request";
  readonly checkTimeoutMs: number;
  /** Bounds how many started apps and browser contexts there are at a time, over all apps of the run. */
  readonly slots: Slots;
  readonly prepare: () => Promise<PreparedApp | AppDown>;
  readonly start: (prepared: PreparedApp) => Promise<RunningApp | AppDown>;
  readonly signal: AbortSignal;
}

/** Which checks to judge on one snapshot. */
export interface JudgeJob {
  readonly request: ChangeRequest;
  readonly attempt: number;
  readonly pass: number;
  /** 0-based checks that need no verdict any more. */
  readonly judged: ReadonlySet<number>;
  /** True for a sweep: the request's checks on a later snapshot. */
  readonly isSweep: boolean;
  /** 1-based snapshot of a sweep that is not on the last one. */
  readonly snapshot?: number;
  /** Which judgement of the checks it is, see `JudgeTask.sample`; default: the pass. */
  readonly sample?: string;
}

/** A verdict on its way into the trace. */
export interface Ruling {
  readonly verdict: Verdict;
  readonly cause: string;
  readonly class?: string;
  readonly tries: number;
  readonly durationMs: number;
  readonly evidence: readonly FileRef[];
  /** What a model took for it; absent or null when none took part. */
  readonly usage?: ModelUsage | null;
  /** The same evidence under the judge's other verdict rules. */
  readonly rules?: Readonly<Record<string, Verdict>>;
}

/** Counts what the checks of one request cost. */
export interface Tally {
  starts: number;
  startMs: number;
  browserMs: number;
}

/** A check with its 0-based position. */
export interface IndexedCheck {
  readonly check: Check;
  readonly index: number;
}

/** Folder of a job's evidence, relative to the app's folder; a later attempt or pass never writes over an earlier one. */
export function evidenceDir({ request, attempt, pass, isSweep, snapshot }: JudgeJob): string {
  const parts = [requestDir(request.number)];
  if (isSweep) parts.push(snapshot === undefined ? "sweep" : `sweep-${String(snapshot).padStart(2, "0")}`);
  if (attempt > 1) parts.push(`attempt-${attempt}`);
  if (pass > 1) parts.push(`pass-${pass}`);
  return parts.join("/");
}
