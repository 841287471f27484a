import { COMPARED_METRICS, POLICIES } from "./compared-metrics.ts";
import type { ComparedMetric, Policy } from "./compared-metrics.ts";
import type { AppScore } from "./score-app.ts";
import { pairedIntervals } from "./statistics/bootstrap.ts";
import type { Interval, Pair } from "./statistics/bootstrap.ts";
import { holm } from "./statistics/holm.ts";
import { sumOf, valueOf } from "./statistics/measure.ts";
import { permutationTest } from "./statistics/permutation.ts";
import type { PermutationTest } from "./statistics/permutation.ts";
import { summariseTrials } from "./statistics/trials.ts";
import type { TrialSummary } from "./statistics/trials.ts";
import type { Ratio } from "./turns.ts";

/** One side of a comparison: a run, or the repeats of one. */
export interface Side {
  readonly name: string;
  /** The scores of each repeat's apps. */
  readonly repeats: readonly (readonly AppScore[])[];
}

/** Two sides compared by one metric under one policy; B minus A. */
export interface ComparedValue {
  /** Apps that have a value on both sides. */
  readonly apps: number;
  readonly a: number | null;
  readonly b: number | null;
  readonly difference: number | null;
  /** 95 % by paired bootstrap over apps; null where it cannot be had. */
  readonly interval: Interval | null;
  readonly test: PermutationTest | null;
  /** The p-value adjusted over the headline metrics of all pairs; null for the others. */
  readonly adjustedP: number | null;
}

/** One metric of a pair under both policies. */
export interface MetricComparison extends Readonly<Record<Policy, ComparedValue>> {
  readonly metric: string;
  /** False when the two policies put the sides in another order. */
  readonly doPoliciesAgree: boolean;
}

/** Two sides over the apps they share. */
export interface PairComparison {
  readonly a: string;
  readonly b: string;
  /** Sample indexes of the shared apps, in order. */
  readonly apps: readonly number[];
  readonly metrics: readonly MetricComparison[];
}

type Apps = ReadonlyMap<number, readonly AppScore[]>;

/** The scores of each app over the repeats of a side. */
function byApp({ repeats }: Side): Map<number, AppScore[]> {
  const apps = new Map<number, AppScore[]>();
  for (const app of repeats.flat()) {
    const scores = apps.get(app.sampleIndex);
    if (scores === undefined) apps.set(app.sampleIndex, [app]);
    else scores.push(app);
  }
  return apps;
}

/** What an app gives on average over its repeats, so that an app with fewer of them weighs the same; null when it gives nothing. */
function readApp(scores: readonly AppScore[], read: ComparedMetric[Policy]): Ratio | null {
  const given = scores.map(read).filter((ratio) => ratio !== null);
  if (given.length === 0) return null;
  return [sumOf(given.map(([top]) => top)) / given.length, sumOf(given.map(([, bottom]) => bottom)) / given.length];
}

/** Both sides of a metric over the apps that have a value on both. */
function pairUp(apps: readonly number[], [ofA, ofB]: readonly [Apps, Apps], read: ComparedMetric[Policy]): Pair {
  const values = apps.flatMap((app) => {
    const [a, b] = [readApp(ofA.get(app) ?? [], read), readApp(ofB.get(app) ?? [], read)];
    return a === null || b === null ? [] : [{ a, b }];
  });
  return {
    a: { top: values.map(({ a }) => a[0]), bottom: values.map(({ a }) => a[1]) },
    b: { top: values.map(({ b }) => b[0]), bottom: values.map(({ b }) => b[1]) },
  };
}

function comparePair(pair: Pair): ComparedValue {
  const apps = pair.a.top.length;
  const [a, b] = [valueOf(pair.a), valueOf(pair.b)];
  const difference = a === null || b === null ? null : b - a;
  return {
    apps,
    a,
    b,
    difference,
    interval: difference === null ? null : (pairedIntervals(apps, [pair])[0] ?? null),
    test: permutationTest(pair),
    adjustedP: null,
  };
}

// Sums in another order differ in the last digits; those are no difference.
const signOf = (value: number): number => (Math.abs(value) < 1e-9 ? 0 : Math.sign(value));

function agree(one: number | null, other: number | null): boolean {
  return one === null || other === null || signOf(one) === signOf(other);
}

function compareMetric(
  apps: readonly number[],
  sides: readonly [Apps, Apps],
  metric: ComparedMetric,
): MetricComparison {
  const countedAsNo = comparePair(pairUp(apps, sides, metric.countedAsNo));
  const excluded = comparePair(pairUp(apps, sides, metric.excluded));
  const doPoliciesAgree = agree(countedAsNo.difference, excluded.difference);
  return { metric: metric.name, countedAsNo, excluded, doPoliciesAgree };
}

const headline = new Set(COMPARED_METRICS.filter(({ isHeadline }) => isHeadline).map(({ name }) => name));

/** Adjusts the p-values of one policy over the headline metrics of all pairs. */
function adjust(pairs: readonly PairComparison[], policy: Policy): PairComparison[] {
  const pOf = ({ metric, [policy]: { test } }: MetricComparison): number[] =>
    headline.has(metric) && test !== null ? [test.p] : [];
  const adjusted = holm(pairs.flatMap(({ metrics }) => metrics.flatMap(pOf))).values();
  return pairs.map((pair) => ({
    ...pair,
    metrics: pair.metrics.map((metric) =>
      pOf(metric).length === 0
        ? metric
        : { ...metric, [policy]: { ...metric[policy], adjustedP: adjusted.next().value ?? null } },
    ),
  }));
}

/** Compares every two sides over the apps they share, B minus A for sides A, B, ... in their order. */
export function compareSides(sides: readonly Side[]): PairComparison[] {
  const read = sides.map((side) => ({ name: side.name, apps: byApp(side) }));
  const pairs = read.flatMap((a, index) =>
    read.slice(index + 1).map((b): PairComparison => {
      const apps = [...a.apps.keys()].filter((app) => b.apps.has(app)).sort((one, other) => one - other);
      const metrics = COMPARED_METRICS.map((metric) => compareMetric(apps, [a.apps, b.apps], metric));
      return { a: a.name, b: b.name, apps, metrics };
    }),
  );
  return POLICIES.reduce(adjust, pairs);
}

/** Whether an app survived all of its requests; null when missing verdicts leave that open. */
function hasSurvived({ lo, hi }: AppScore): boolean | null {
  const [worst, best] = [lo.survival === lo.N, hi.survival === hi.N];
  return worst === best ? worst : null;
}

/** pass@k, pass^k and avg@k of a side, where a trial passes when the app survives all requests. */
export function summariseRepeats(side: Side, planned: number): TrialSummary {
  const trials = [...byApp(side)].sort(([a], [b]) => a - b);
  return summariseTrials(
    trials.map(([app, scores]) => ({ app: String(app), passed: scores.map(hasSurvived) })),
    planned,
  );
}
