import type { CheckPlace } from "../../dataset/match-check.ts";
import type { Row } from "../../dataset/row.ts";
import { buildRequestGraph } from "../../graph/request-graph.ts";

/** What a sweep does on one snapshot. */
export interface SweepStep {
  /** 1-based request after which the snapshot was taken. */
  readonly snapshot: number;
  /** Earlier requests that had last touched a file which this request changed. */
  readonly touched: readonly number[];
  /** Checks to judge: those of touched requests and of what builds on them first, then the longest unseen. */
  readonly chosen: readonly CheckPlace[];
  /** What the budget left out, in the same order. */
  readonly leftOut: readonly CheckPlace[];
  /** How many of `leftOut` can be reached from what the request changed. */
  readonly reachableLeftOut: number;
}

/** What a sweep over all snapshots is planned from. */
export interface SweepInput {
  readonly row: Row;
  /** Paths that each request changed, in request order; those of request 1 are all paths. */
  readonly changedPaths: readonly (readonly string[])[];
  /** Most checks for one snapshot; absent: all. */
  readonly budget?: number;
}

/**
 * Plans the own checks of earlier requests for every snapshot from the second on. A request's own checks on its own snapshot
 * are its ordinary verdicts, and a check that a later request has superseded has no fixed answer after that; neither is asked.
 */
export function planSweep({ row, changedPaths, budget = Number.POSITIVE_INFINITY }: SweepInput): readonly SweepStep[] {
  const graph = buildRequestGraph(row.requests.length, row.dependencies);
  const lastTouch = new Map<string, number>();
  const lastSeen = new Map<string, number>();
  const steps: SweepStep[] = [];
  for (const [index, paths] of changedPaths.entries()) {
    const snapshot = index + 1;
    const touched = [...new Set(paths.flatMap((path) => lastTouch.get(path) ?? []))].sort((a, b) => a - b);
    for (const path of paths) lastTouch.set(path, snapshot);
    if (snapshot === 1) continue;
    const reachable = new Set(
      row.requests
        .map(({ number }) => number)
        .filter((number) => [number, ...graph.ancestors(number)].some((rest) => touched.includes(rest))),
    );
    const step = { snapshot, touched, ...choose({ row, snapshot, reachable, lastSeen, budget }) };
    for (const place of step.chosen) lastSeen.set(keyOf(place), snapshot);
    steps.push(step);
  }
  return steps;
}

interface Choice {
  readonly row: Row;
  readonly snapshot: number;
  readonly reachable: ReadonlySet<number>;
  readonly lastSeen: ReadonlyMap<string, number>;
  readonly budget: number;
}

function choose(choice: Choice): Pick<SweepStep, "chosen" | "leftOut" | "reachableLeftOut"> {
  const { row, snapshot, reachable, lastSeen, budget } = choice;
  const seenAt = (place: CheckPlace): number => lastSeen.get(keyOf(place)) ?? place.request;
  const places = ownChecks(row, snapshot - 1);
  const isFirst = ({ request }: CheckPlace): boolean => reachable.has(request);
  // Sorting is stable: where nothing else decides, the row's order does.
  const byAge = (list: readonly CheckPlace[]): readonly CheckPlace[] => list.toSorted((a, b) => seenAt(a) - seenAt(b));
  const ordered = [...byAge(places.filter(isFirst)), ...byAge(places.filter((place) => !isFirst(place)))];
  const leftOut = ordered.slice(budget);
  return { chosen: ordered.slice(0, budget), leftOut, reachableLeftOut: leftOut.filter(isFirst).length };
}

const keyOf = ({ request, check }: CheckPlace): string => `${request}.${check}`;

/** The own checks of requests 1..last that can be observed later. */
function ownChecks(row: Row, last: number): readonly CheckPlace[] {
  return row.requests
    .slice(0, last)
    .flatMap(({ number, checks }) =>
      checks.flatMap((check, index) =>
        check.role === "backward" || check.superseded === true ? [] : [{ request: number, check: index }],
      ),
    );
}
