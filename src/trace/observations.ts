import { CAUSES, FAILURE_CLASSES } from "./event.ts";
import type { Cause, FailureClass, Verdict } from "./event.ts";

/** The one observation of a check that counts, after attempts, passes and doubles are settled. */
export interface Observation {
  readonly verdict: Verdict;
  /** As written; see `knownCause` for reading unknown values. */
  readonly cause: string;
  /** As written; absent when the writer gave none. */
  readonly class?: string | undefined;
  /** The same evidence under the judge's other verdict rules; absent when it has none. */
  readonly rules?: Readonly<Record<string, Verdict>> | undefined;
}

/**
 * How far a request came: `run` to its end, `unfinished` (something is there, the end is not), `not_run`, or
 * `no_artifact` (not run because the agent left nothing to build on; decided, not missing).
 */
export type RequestState = "run" | "unfinished" | "not_run" | "no_artifact";

/** What is known about one request of one app. */
export interface RequestObservations {
  readonly state: RequestState;
  /** Whether any answer of the agent came; null when unknown or not reached. */
  readonly responded: boolean | null;
  /** Whether the app was served after the request; null when unknown or not reached. */
  readonly up: boolean | null;
  /** By 0-based check; a check that is absent was never observed. */
  readonly checks: ReadonlyMap<number, Observation>;
}

/** Everything scoring needs to know about one app; the common shape of traces and flat verdicts. */
export interface AppObservations {
  readonly sampleIndex: number;
  /** By 1-based request; a request that is absent was not reached. */
  readonly requests: ReadonlyMap<number, RequestObservations>;
  /** Final sweep, by 1-based request, then 0-based check; null when there was none. */
  readonly sweep: ReadonlyMap<number, ReadonlyMap<number, Observation>> | null;
}

const causes: ReadonlySet<string> = new Set(CAUSES);
const classes: ReadonlySet<string> = new Set<string>(Object.values(FAILURE_CLASSES).flat());

/** A cause as this version knows it; values it does not know read as `other`. */
export function knownCause(cause: string): Cause | "other" {
  return causes.has(cause) ? (cause as Cause) : "other";
}

/** A failure class as this version knows it; values it does not know read as `other`. */
export function knownClass(name: string): FailureClass | "other" {
  return classes.has(name) ? (name as FailureClass) : "other";
}
