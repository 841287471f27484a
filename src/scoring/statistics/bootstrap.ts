import type { Measure } from "./measure.ts";
import { quantile } from "./quantile.ts";
import { resampleCount, resamples, weightedSums } from "./weights.ts";
import type { Weights } from "./weights.ts";

/** A 95 % percentile interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** Resamples left out because there was nothing to divide by. */
  readonly dropped: number;
}

/** Probability that the interval is made for. */
export const LEVEL = 0.95;

/** Fewer clusters than this have no spread to draw from. */
export const FEWEST_APPS = 2;

/** Percentile interval of values that were drawn; those that are not finite are dropped. Null when none is left. Reorders them. */
function percentileInterval(drawn: Float64Array): Interval | null {
  const kept = keepFinite(drawn);
  if (kept.length === 0) return null;
  const tail = (1 - LEVEL) / 2;
  return { low: quantile(kept, tail), high: quantile(kept, 1 - tail), dropped: drawn.length - kept.length };
}

function keepFinite(values: Float64Array): Float64Array {
  let kept = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    values[kept] = value;
    kept += 1;
  }
  return values.subarray(0, kept);
}

/** What one resample after the other gives; NaN where there is nothing to divide by. */
function drawValues(weights: Weights, { top, bottom }: Measure): Float64Array {
  const values = weightedSums(weights, top);
  if (bottom.every((count) => count === 1)) return values.map((value) => value / bottom.length);
  const counts = weightedSums(weights, bottom);
  // 0/0 is NaN, and there is no other way to a denominator of 0.
  return values.map((value, index) => value / (counts[index] ?? 0));
}

type Drawn = (weights: Weights) => Float64Array;

/** Draws apps anew for all statistics at once. */
function bootstrap(apps: number, statistics: readonly Drawn[]): (Interval | null)[] {
  if (apps < FEWEST_APPS) return statistics.map(() => null);
  const drawn = statistics.map(() => new Float64Array(resampleCount(apps)));
  let start = 0;
  for (const weights of resamples(apps)) {
    for (const [index, statistic] of statistics.entries()) drawn[index]?.set(statistic(weights), start);
    start += weights.draws;
  }
  return drawn.map(percentileInterval);
}

/**
 * Percentile intervals of metrics over the same apps, which are drawn with replacement, each with all that belongs to it. Null with
 * fewer than two apps, and for a metric without any denominator.
 */
export function bootstrapIntervals(apps: number, measures: readonly Measure[]): (Interval | null)[] {
  return bootstrap(
    apps,
    measures.map((measure) => (weights: Weights) => drawValues(weights, measure)),
  );
}

/** Two sides of one metric over the same apps in the same order. */
export interface Pair {
  readonly a: Measure;
  readonly b: Measure;
}

/** Percentile intervals of B minus A, both sides on the same drawn apps; null as in `bootstrapIntervals`. */
export function pairedIntervals(apps: number, pairs: readonly Pair[]): (Interval | null)[] {
  return bootstrap(
    apps,
    pairs.map(({ a, b }) => (weights: Weights) => {
      const before = drawValues(weights, a);
      return drawValues(weights, b).map((value, index) => value - (before[index] ?? 0));
    }),
  );
}
