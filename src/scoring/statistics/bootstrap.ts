import type { Measure } from "./measure.ts";
import { quantile } from "./quantile.ts";
import { resampleCount, resampledSums, resamples } from "./resamples.ts";
import type { Resamples } from "./resamples.ts";

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

const isMean = ({ bottom }: Measure): boolean => bottom.every((count) => count === 1);

/** What the draws of a block give for each measure; NaN where there is nothing to divide by. */
function drawValues(resampled: Resamples, measures: readonly Measure[]): Float64Array[] {
  const sums = resampledSums(
    resampled,
    measures.flatMap((measure) => (isMean(measure) ? [measure.top] : [measure.top, measure.bottom])),
  ).values();
  return measures.map((measure) => {
    const values = sums.next().value ?? new Float64Array();
    const counts = isMean(measure) ? null : sums.next().value;
    // 0/0 is NaN, and there is no other way to a denominator of 0.
    for (let draw = 0; draw < values.length; draw += 1) {
      values[draw] = (values[draw] ?? 0) / (counts?.[draw] ?? resampled.apps);
    }
    return values;
  });
}

/**
 * Percentile intervals of metrics over the same apps, which are drawn with replacement, each with all that belongs to it. Null with
 * fewer than two apps, and for a metric without any denominator.
 */
export function bootstrapIntervals(apps: number, measures: readonly Measure[]): (Interval | null)[] {
  return bootstrap(apps, measures.length, (resampled) => drawValues(resampled, measures));
}

/** Draws apps anew for all statistics at once. */
function bootstrap(
  apps: number,
  statistics: number,
  draw: (resampled: Resamples) => readonly Float64Array[],
): (Interval | null)[] {
  const drawn = Array.from({ length: statistics }, () => new Float64Array(resampleCount(apps)));
  if (apps < FEWEST_APPS) return drawn.map(() => null);
  let start = 0;
  for (const resampled of resamples(apps)) {
    for (const [index, values] of draw(resampled).entries()) drawn[index]?.set(values, start);
    start += resampled.draws;
  }
  return drawn.map(percentileInterval);
}

/** Two sides of one metric over the same apps in the same order. */
export interface Pair {
  readonly a: Measure;
  readonly b: Measure;
}

/** Percentile intervals of B minus A, both sides on the same drawn apps; null as in `bootstrapIntervals`. */
export function pairedIntervals(apps: number, pairs: readonly Pair[]): (Interval | null)[] {
  const measures = pairs.flatMap(({ a, b }) => [a, b]);
  return bootstrap(apps, pairs.length, (resampled) => {
    const values = drawValues(resampled, measures);
    return pairs.map((_, index) => {
      const before = values[2 * index];
      const after = values[2 * index + 1] ?? new Float64Array();
      return after.map((value, draw) => value - (before?.[draw] ?? 0));
    });
  });
}
