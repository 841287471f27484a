import type { Row, SampledRow } from "../dataset/row.ts";
import { planRow } from "../scoring/row-plan.ts";
import type { TraceEvent, Verdict } from "../trace/event.ts";
import { observeApp } from "../trace/observe-app.ts";

type EventOf<Type extends TraceEvent["type"]> = Extract<TraceEvent, { type: Type }>;
/** A verdict with everything its event says. */
export type Judged = EventOf<"check_judged">;

/** What happened at one request, in the attempt that counts. */
export interface RequestStory {
  /** 1-based. */
  readonly number: number;
  /** Null when the agent's turn never ended. */
  readonly agent: EventOf<"agent_finished"> | null;
  readonly snapshot: EventOf<"workspace_committed"> | null;
  readonly up: EventOf<"app_up"> | null;
  readonly down: EventOf<"app_down"> | null;
  /** By 0-based check. */
  readonly checks: ReadonlyMap<number, Judged>;
}

/** One time that an own check was looked at. */
interface Sighting {
  /** The snapshot it was looked at on, as the number of the request it was taken after. */
  readonly at: number;
  readonly judged: Judged;
}

/** A check that is not YES where it was YES before, or from the start. */
export interface Break {
  /** Request and 0-based check it belongs to. */
  readonly request: number;
  readonly check: number;
  /** The last snapshot with YES; null when the check never was: a failure of the new feature itself. */
  readonly lastGood: number | null;
  readonly firstBad: number;
  readonly verdict: Verdict;
  /** Requests that can have broken it, first and last; the same number twice when it is known. */
  readonly suspects: readonly [first: number, last: number];
  /** Requests it builds on that had a broken check by then; empty: the failure is a root. */
  readonly brokenParents: readonly number[];
  /** The snapshot on which it was YES again; null when it never was. */
  readonly repairedAt: number | null;
}

/** All that was seen of one own check. */
export interface CheckStory {
  readonly request: number;
  readonly check: number;
  /** By snapshot, MISSING verdicts among them. */
  readonly sightings: readonly Sighting[];
}

/** One app as the report tells it. */
export interface AppStory {
  readonly requests: readonly RequestStory[];
  readonly checks: readonly CheckStory[];
  readonly breaks: readonly Break[];
}

function readRequest(number: number, events: readonly TraceEvent[], work: readonly TraceEvent[]): RequestStory {
  const counted = work.filter(
    (event): event is EventOf<"agent_finished"> | Judged =>
      "request" in event && event.request === number && !("sweep" in event && event.sweep === true),
  );
  const attempt = counted[0]?.attempt ?? null;
  const facts = events.filter((event) => "request" in event && event.request === number && event.attempt === attempt);
  const find = <Type extends TraceEvent["type"]>(type: Type): EventOf<Type> | null =>
    facts.find((event): event is EventOf<Type> => event.type === type) ?? null;
  const checks = counted.flatMap((event) => (event.type === "check_judged" ? [[event.check, event] as const] : []));
  return {
    number,
    agent: find("agent_finished"),
    snapshot: find("workspace_committed"),
    up: find("app_up"),
    down: find("app_down"),
    checks: new Map(checks),
  };
}

/** Tells what happened to an app from its events. */
export function tellApp(sampled: SampledRow, events: readonly TraceEvent[]): AppStory {
  const { row } = sampled;
  const { work } = observeApp(sampled, events);
  const requests = row.requests.map(({ number }) => readRequest(number, events, work));
  const sweeps = events.filter((event): event is Judged => event.type === "check_judged" && event.sweep === true);
  const plan = planRow(row);
  const checks = plan.own.map(({ request, check }, own): CheckStory => {
    const seen = plan.requests.flatMap(({ observed }, index) =>
      observed.flatMap((place): Sighting[] => {
        const judged = place.own === own ? requests[index]?.checks.get(place.position) : undefined;
        return judged === undefined ? [] : [{ at: index + 1, judged }];
      }),
    );
    const swept = sweeps
      .filter((event) => event.request === request + 1 && event.check === check)
      .map((judged) => ({ at: judged.snapshot ?? row.requests.length, judged }));
    return {
      request: request + 1,
      check,
      sightings: [...seen, ...swept].sort((a, b) => a.at - b.at || Number(a.judged.sweep) - Number(b.judged.sweep)),
    };
  });
  return { requests, checks, breaks: findBreaks(row, checks) };
}

const decided = ({ sightings }: CheckStory): readonly Sighting[] =>
  sightings.filter(({ judged }) => judged.verdict !== "MISSING");

/** Requests that `request` builds on and that had a broken check when last seen on a snapshot up to `until`. */
export function brokenParentsOf(
  { dependencies }: Row,
  checks: readonly CheckStory[],
  { request, until }: { readonly request: number; readonly until: number },
): number[] {
  const isBroken = (parent: number): boolean =>
    checks.some((story) => {
      const last = story.request === parent ? decided(story).findLast(({ at }) => at <= until) : undefined;
      return last !== undefined && last.judged.verdict !== "YES";
    });
  const parents = dependencies.filter(({ to }) => to === request).map(({ from }) => from);
  return [...new Set(parents)].filter(isBroken).toSorted((a, b) => a - b);
}

function findBreaks(row: Row, checks: readonly CheckStory[]): Break[] {
  return checks.flatMap((story) => {
    const seen = decided(story);
    return seen.flatMap(({ at, judged }, index): Break[] => {
      const before = seen[index - 1];
      if (judged.verdict === "YES" || (before !== undefined && before.judged.verdict !== "YES")) return [];
      const { request, check } = story;
      return [
        {
          request,
          check,
          lastGood: before?.at ?? null,
          firstBad: at,
          verdict: judged.verdict,
          suspects: [before === undefined ? at : Math.min(before.at + 1, at), at],
          brokenParents: brokenParentsOf(row, checks, { request, until: at }),
          repairedAt: seen.slice(index + 1).find((later) => later.judged.verdict === "YES")?.at ?? null,
        },
      ];
    });
  });
}

/** A break in words, such as "broke after request 5" or "broke between requests 3 and 7". */
export function sayBreak({ lastGood, suspects: [first, last] }: Break): string {
  if (lastGood === null) return `failed from the start, at request ${last}`;
  return first === last
    ? `broken by request ${last}`
    : `broken by one of requests ${first} to ${last} (YES after ${lastGood}, not after ${last})`;
}
