import type { SampledRow } from "../dataset/row.ts";
import type { TraceEvent } from "./event.ts";
import type { AppObservations, Observation, RequestObservations } from "./observations.ts";

type EventOf<Type extends TraceEvent["type"]> = Extract<TraceEvent, { type: Type }>;
type CheckJudged = EventOf<"check_judged">;

interface Attempt {
  number: number;
  isFinished: boolean;
  agent: EventOf<"agent_finished"> | null;
  up: boolean | null;
  readonly checks: Map<number, CheckJudged>;
}

/** The events that count: of each request the last complete attempt, in it of each check the last verdict. */
export interface CountedApp {
  readonly observations: AppObservations;
  /** Turns of the agent and judgements that count, those of the final sweep included, those of earlier sweeps not. */
  readonly work: readonly (EventOf<"agent_finished"> | CheckJudged)[];
}

type Attempts = Map<number, Attempt[]>;

function attemptOf(requests: Attempts, request: number, number: number): Attempt {
  let attempts = requests.get(request);
  if (attempts === undefined) requests.set(request, (attempts = []));
  for (const known of attempts) if (known.number === number) return known;
  const attempt: Attempt = { number, isFinished: false, agent: null, up: null, checks: new Map() };
  attempts.push(attempt);
  return attempt;
}

function setLast(checks: Map<number, CheckJudged>, key: number, event: CheckJudged): void {
  const earlier = checks.get(key);
  if (earlier === undefined || event.pass >= earlier.pass) checks.set(key, event);
}

interface Gathered {
  readonly requests: Attempts;
  /** Sweep verdicts by request, then check. */
  readonly sweep: Map<number, Map<number, CheckJudged>>;
  end: EventOf<"app_finished"> | null;
}

function gather(events: readonly TraceEvent[]): Gathered {
  const gathered: Gathered = { requests: new Map(), sweep: new Map(), end: null };
  for (const event of events) {
    if (event.type === "app_started") continue;
    if (event.type === "app_finished") gathered.end = event;
    else if (event.type === "check_judged" && event.sweep === true) {
      if (event.snapshot === undefined) gatherSweep(event, gathered);
    } else gatherTurn(event, attemptOf(gathered.requests, event.request, event.attempt));
  }
  return gathered;
}

function gatherSweep(event: CheckJudged, { sweep }: Gathered): void {
  const checks = sweep.get(event.request) ?? new Map<number, CheckJudged>();
  sweep.set(event.request, checks);
  const earlier = checks.get(event.check);
  if (earlier === undefined || event.attempt >= earlier.attempt) setLast(checks, event.check, event);
}

function gatherTurn(event: Exclude<TraceEvent, EventOf<"app_started" | "app_finished">>, attempt: Attempt): void {
  switch (event.type) {
    case "agent_finished":
      attempt.agent = event;
      break;
    case "app_up":
      attempt.up = true;
      break;
    case "app_down":
      // One good start proves that the app can be served; a later bad one shows in the verdicts of its checks.
      attempt.up ??= false;
      break;
    case "check_judged":
      setLast(attempt.checks, event.check, event);
      break;
    case "request_finished":
      attempt.isFinished = true;
      break;
    case "request_started":
    case "workspace_committed":
      break;
  }
}

function pickAttempt(attempts: readonly Attempt[]): Attempt | undefined {
  if (attempts.length === 1) return attempts[0];
  const newestFirst = attempts.toSorted((a, b) => b.number - a.number);
  return newestFirst.find((attempt) => attempt.isFinished) ?? newestFirst[0];
}

function stateOf(attempt: Attempt): RequestObservations["state"] {
  let state: RequestObservations["state"] = attempt.checks.size > 0 ? "no_artifact" : "unfinished";
  for (const { cause } of attempt.checks.values()) if (cause !== "no_artifact") state = "unfinished";
  return state === "unfinished" && attempt.isFinished ? "run" : state;
}

function observeAttempt(attempt: Attempt): RequestObservations {
  const state = stateOf(attempt);
  const unknown = state === "no_artifact" ? false : null;
  return {
    state,
    responded: attempt.agent === null ? unknown : attempt.agent.responded,
    up: attempt.up ?? unknown,
    checks: slim(attempt.checks),
  };
}

/** Keeps of the verdicts only what scoring reads, so that a whole run fits into little memory. */
function slim(checks: ReadonlyMap<number, CheckJudged>): Map<number, Observation> {
  const observations = new Map<number, Observation>();
  for (const [check, { verdict, cause, class: name, rules }] of checks) {
    observations.set(check, { verdict, cause, class: name, ...(rules === undefined ? {} : { rules }) });
  }
  return observations;
}

function slimSweep(sweep: Gathered["sweep"]): Map<number, ReadonlyMap<number, Observation>> {
  return new Map([...sweep].map(([request, checks]) => [request, slim(checks)] as const));
}

/** A request that was not run because there was nothing to build on: failed, not missing. */
function withoutArtifact(checkCount: number): RequestObservations {
  const failed: Observation = { verdict: "NO", cause: "no_artifact" };
  const checks = new Map(Array.from({ length: checkCount }, (_, check) => [check, failed] as const));
  return { state: "no_artifact", responded: false, up: false, checks };
}

/** Settles attempts, passes and doubles of one app's events. */
export function observeApp({ sampleIndex, row }: SampledRow, events: readonly TraceEvent[]): CountedApp {
  const { requests: attempts, sweep, end } = gather(events);
  const requests = new Map<number, RequestObservations>();
  const work: (EventOf<"agent_finished"> | CheckJudged)[] = [];
  for (const [request, tries] of attempts) {
    const counted = pickAttempt(tries);
    if (counted === undefined) continue;
    requests.set(request, observeAttempt(counted));
    if (counted.agent !== null) work.push(counted.agent);
    work.push(...counted.checks.values());
  }
  for (const checks of sweep.values()) work.push(...checks.values());
  if (end?.status === "stopped" && end.cause === "no_artifact") {
    for (const request of row.requests) {
      if (!requests.has(request.number)) requests.set(request.number, withoutArtifact(request.checks.length));
    }
  }
  return {
    observations: { sampleIndex, requests, sweep: sweep.size === 0 ? null : slimSweep(sweep) },
    work,
  };
}
