import type { Ratio } from "../turns.ts";

/** A metric as sums over apps: its value is the sum of `top` over that of `bottom`. A mean has a bottom of 1 for each app. */
export interface Measure {
  readonly top: readonly number[];
  readonly bottom: readonly number[];
}

/** The sum of numbers, in their order. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The value of a metric over all apps; null when there is nothing to divide by. */
export function valueOf({ top, bottom }: Measure): number | null {
  const all = sumOf(bottom);
  return all === 0 ? null : sumOf(top) / all;
}

/** A mean over apps as a measure; an app without a value has no part in it. */
export function meanMeasure(values: readonly (number | null)[]): Measure {
  return { top: values.map((value) => value ?? 0), bottom: values.map((value) => (value === null ? 0 : 1)) };
}

/** A ratio pooled over apps as a measure. */
export function ratioMeasure(ratios: readonly Ratio[]): Measure {
  return { top: ratios.map(([top]) => top), bottom: ratios.map(([, bottom]) => bottom) };
}
