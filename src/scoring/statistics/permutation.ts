import type { Pair } from "./bootstrap.ts";
import { sumOf, valueOf } from "./measure.ts";
import { SEED, seededDraw } from "./random.ts";
import { weightedSums } from "./weights.ts";
import type { Weights } from "./weights.ts";

/** A paired permutation test, two-sided. */
export interface PermutationTest {
  /** Probability of a difference at least as large when it did not matter which side an app's results are from. */
  readonly p: number;
  /** Whether every exchange of sides was tried; else a fixed number was drawn. */
  readonly isExact: boolean;
  /** Exchanges that gave a difference. */
  readonly exchanges: number;
  /** Exchanges left out because a side had nothing to divide by. */
  readonly dropped: number;
}

const EXACT_APPS = 14;
const DRAWN_EXCHANGES = 10_000;
// Sums in another order differ in the last digits; those are ties.
const TIE = 1e-9;

const known = new Map<number, Weights>();

/** Which apps change sides, in each exchange: all subsets for few apps, else drawn ones. */
function exchangesOf(apps: number): Weights {
  const cached = known.get(apps);
  if (cached !== undefined) return cached;
  const isExact = apps <= EXACT_APPS;
  const draws = isExact ? 2 ** apps : DRAWN_EXCHANGES;
  const values = new Uint8Array(apps * draws);
  const draw = seededDraw(SEED);
  for (let index = 0; index < draws; index += 1) {
    for (let app = 0; app < apps; app += 1) values[app * draws + index] = isExact ? (index >>> app) & 1 : draw(2);
  }
  known.clear();
  known.set(apps, { draws, values });
  return { draws, values };
}

const gain = (b: readonly number[], a: readonly number[]): number[] => b.map((value, app) => value - (a[app] ?? 0));

/** Differences B minus A after each exchange; NaN where a side has nothing to divide by. */
function exchangedDifferences(weights: Weights, { a, b }: Pair): Float64Array {
  const tops = weightedSums(weights, gain(b.top, a.top));
  const bottoms = weightedSums(weights, gain(b.bottom, a.bottom));
  const [topA, topB, bottomA, bottomB] = [sumOf(a.top), sumOf(b.top), sumOf(a.bottom), sumOf(b.bottom)];
  return tops.map((top, index) => {
    const bottom = bottoms[index] ?? 0;
    return (topB - top) / (bottomB - bottom) - (topA + top) / (bottomA + bottom);
  });
}

/** Tests B against A by exchanging the sides of whole apps. Null when a side has no value at all. */
export function permutationTest(pair: Pair): PermutationTest | null {
  const [a, b] = [valueOf(pair.a), valueOf(pair.b)];
  if (a === null || b === null) return null;
  const apps = pair.a.top.length;
  const least = Math.abs(b - a) - TIE;
  let exchanges = 0;
  let asLarge = 0;
  const differences = exchangedDifferences(exchangesOf(apps), pair);
  for (const difference of differences) {
    if (!Number.isFinite(difference)) continue;
    exchanges += 1;
    if (Math.abs(difference) >= least) asLarge += 1;
  }
  const isExact = apps <= EXACT_APPS;
  // Of drawn exchanges the one that was observed is one more, so that p is never 0.
  const p = isExact ? asLarge / exchanges : (asLarge + 1) / (exchanges + 1);
  return { p, isExact, exchanges, dropped: differences.length - exchanges };
}
