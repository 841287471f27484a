import type { ChangeRequest, Row } from "../../dataset/row.ts";
import type { TraceEvent } from "../../trace/event.ts";

/** A verdict as it stands in a trace. */
export type Judged = Extract<TraceEvent, { type: "check_judged" }>;

/** What a run's trace says about one request, in the attempt that counts. */
export interface SourceRequest {
  readonly request: ChangeRequest;
  readonly attempt: number;
  /** Events of the attempt without its verdicts, in order. */
  readonly facts: readonly TraceEvent[];
  /** What the agent left; null when it was not stored. */
  readonly snapshot: { readonly sha: string; readonly tree: string } | null;
  /** The last verdict of each check, without those of sweeps. */
  readonly verdicts: ReadonlyMap<number, Judged>;
  /** A pass above all of the attempt. */
  readonly nextPass: number;
}

/** The requests of a row that a trace has events of, in order. */
export function readSourceRequests(row: Row, events: readonly TraceEvent[]): readonly SourceRequest[] {
  return row.requests.flatMap((request) => {
    const own = events.filter((event) => "request" in event && event.request === request.number && !isSweep(event));
    const attempt = countedAttempt(own);
    return attempt === null ? [] : [readAttempt(request, attempt, own)];
  });
}

/** The last verdicts of the final sweep. */
export function readSweep(events: readonly TraceEvent[]): readonly Judged[] {
  const last = new Map<string, Judged>();
  for (const event of events) {
    if (event.type !== "check_judged" || !isSweep(event) || event.snapshot !== undefined) continue;
    last.set(`${event.request}.${event.check}`, event);
  }
  return [...last.values()];
}

const isSweep = (event: TraceEvent): boolean => event.type === "check_judged" && event.sweep === true;

// As scoring counts: the last attempt that came to its end, else the last one.
function countedAttempt(events: readonly TraceEvent[]): number | null {
  const finished = events.filter(({ type }) => type === "request_finished");
  const numbers = (finished.length > 0 ? finished : events).map(({ attempt }) => attempt);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

function readAttempt(request: ChangeRequest, attempt: number, events: readonly TraceEvent[]): SourceRequest {
  const own = events.filter((event) => event.attempt === attempt);
  const judged = own.filter((event) => event.type === "check_judged");
  const verdicts = new Map<number, Judged>();
  for (const event of judged)
    if (event.pass >= (verdicts.get(event.check)?.pass ?? 0)) verdicts.set(event.check, event);
  const stored = own.findLast((event) => event.type === "workspace_committed");
  return {
    request,
    attempt,
    facts: own.filter(({ type }) => type !== "check_judged"),
    snapshot: stored === undefined ? null : { sha: stored.sha, tree: stored.tree },
    verdicts,
    nextPass: Math.max(0, ...judged.map(({ pass }) => pass)) + 1,
  };
}
