import type { TraceEvent } from "../trace/event.ts";

type CheckJudged = Extract<TraceEvent, { type: "check_judged" }>;

/** Where an app stands, read from its trace alone. */
export interface AppProgress {
  /** Highest fence seen; 0 when nobody has claimed the app yet. */
  readonly fence: number;
  /** The step to go on with, or null when every request is finished. */
  readonly next: NextStep | null;
  /** True when an `app_finished` with status "complete" stands in the trace. */
  readonly isComplete: boolean;
  /** Finished requests with verdicts that are missing and could be had by judging again. */
  readonly missing: readonly NextStep[];
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
  const missing: NextStep[] = [];
  for (let request = 1; request <= requestCount; request += 1) {
    const own = events.filter((event) => "request" in event && event.request === request);
    const attempt = own.reduce((highest, event) => Math.max(highest, event.attempt), 0);
    const last = own.filter((event) => event.attempt === attempt);
    if (last.some((event) => event.type === "request_finished")) {
      const step = missingStep({ request, attempt }, last);
      if (step !== null) missing.push(step);
      continue;
    }
    return { fence, isComplete, missing, next: nextStep(request, attempt, last) };
  }
  return { fence, isComplete, missing, next: null };
}

// Nobody can rule without an oracle, however often one asks.
const isLost = ({ verdict, cause }: Pick<CheckJudged, "verdict" | "cause">): boolean =>
  verdict === "MISSING" && cause !== "no_oracle";

function missingStep(where: Pick<NextStep, "request" | "attempt">, events: readonly TraceEvent[]): NextStep | null {
  const own = events.filter((event) => event.type === "check_judged" && event.sweep !== true) as readonly CheckJudged[];
  const last = new Map<number, CheckJudged>();
  for (const event of own) if (event.pass >= (last.get(event.check)?.pass ?? 0)) last.set(event.check, event);
  const kept = [...last.values()].filter((event) => !isLost(event));
  if (kept.length === last.size) return null;
  const pass = Math.max(...own.map((event) => event.pass)) + 1;
  return { ...where, stage: "judge", judged: new Set(kept.map(({ check }) => check)), pass };
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
