import type { Ratio } from "../turns.ts";

/** 97.5 % quantile of the standard normal distribution. */
const Z = 1.959_963_984_540_054;

/** Wilson's 95 % score interval of a rate over independent trials; null without trials. */
export function wilson([passed, trials]: Ratio): { readonly low: number; readonly high: number } | null {
  if (trials === 0) return null;
  const rate = passed / trials;
  const square = (Z * Z) / trials;
  const centre = rate + square / 2;
  const half = Z * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials));
  // At the ends one bound is exact, and rounding must not move it.
  const low = passed === 0 ? 0 : (centre - half) / (1 + square);
  return { low, high: passed === trials ? 1 : (centre + half) / (1 + square) };
}
