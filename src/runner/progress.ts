import type { TraceEvent } from "../trace/event.ts";

/** Where an app stands, read from its trace alone. */
export interface AppProgress {
  /** Highest fence seen; 0 when nobody has claimed the app yet. */
  readonly fence: number;
  /** The step to go on with, or null when every request is finished. */
  readonly next: NextStep | null;
  /** True when an `app_finished` with status "complete" stands in the trace. */
  readonly isComplete: boolean;
}

/** The first thing that was not finished. */
export interface NextStep {
  /** 1-based. */
  readonly request: number;
  readonly attempt: number;
  /** "agent": the turn has to be done (again); "judge": the snapshot is stored, verdicts are missing. */
  readonly stage: "agent" | "judge";
  /** 0-based checks that have a verdict in this attempt; those lost to infra are not among them. */
  readonly judged: ReadonlySet<number>;
  /** Pass for the checks that are still to be judged. */
  readonly pass: number;
}

/** Reads from an app's events what is finished and what comes next. */
export function progressOf(events: readonly TraceEvent[], requestCount: number): AppProgress {
  const fence = events.reduce((highest, event) => Math.max(highest, event.fence), 0);
  const isComplete = events.some((event) => event.type === "app_finished" && event.status === "complete");
  for (let request = 1; request <= requestCount; request += 1) {
    const own = events.filter((event) => "request" in event && event.request === request);
    const attempt = own.reduce((highest, event) => Math.max(highest, event.attempt), 0);
    const last = own.filter((event) => event.attempt === attempt);
    if (last.some((event) => event.type === "request_finished")) continue;
    return { fence, isComplete, next: nextStep(request, attempt, last) };
  }
  return { fence, isComplete, next: null };
}

function nextStep(request: number, attempt: number, events: readonly TraceEvent[]): NextStep {
  if (!events.some((event) => event.type === "workspace_committed")) {
    return { request, attempt: attempt + 1, stage: "agent", judged: new Set(), pass: 1 };
  }
  const verdicts = events.filter((event) => event.type === "check_judged");
  const kept = verdicts.filter((event) => event.cause !== "infra");
  const pass = verdicts.reduce((highest, event) => Math.max(highest, event.pass), 0) + 1;
  return { request, attempt, stage: "judge", judged: new Set(kept.map((event) => event.check)), pass };
}
