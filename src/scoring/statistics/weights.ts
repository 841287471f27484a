import { SEED, seededDraw } from "./random.ts";

/**
 * For a block of draws, how often each app counts in each: `values[app * draws + draw]`. A byte is enough: that one app is drawn 256
 * times as often as another has a chance of less than 1 in 10^500.
 */
export interface Weights {
  readonly draws: number;
  readonly values: Uint8Array;
}

/** How often apps are drawn anew. */
const RESAMPLES = 10_000;
const FEWEST_RESAMPLES = 1000;
// With more than a thousand apps the interval is narrow and the work would grow without use.
const MOST_PICKS = 10_000_000;
const BLOCK_VALUES = 1 << 22;

/** Number of resamples for so many apps: 10,000; above a thousand apps fewer, at least 1,000. */
export function resampleCount(apps: number): number {
  return Math.min(RESAMPLES, Math.max(FEWEST_RESAMPLES, Math.floor(MOST_PICKS / Math.max(1, apps))));
}

/** Runs of one data set have the same number of apps, and so the very same resamples. */
const known = new Map<number, readonly Weights[]>();
const KNOWN_LIMIT = 4;

/** Apps drawn with replacement, as often as there are apps; in blocks that bound the memory. The same number gives the same draws. */
export function resamples(apps: number): Iterable<Weights> {
  const cached = known.get(apps);
  if (cached !== undefined) return cached;
  if (apps * resampleCount(apps) > BLOCK_VALUES) return drawBlocks(apps);
  const blocks = [...drawBlocks(apps)];
  if (known.size >= KNOWN_LIMIT) known.clear();
  known.set(apps, blocks);
  return blocks;
}

function* drawBlocks(apps: number): Generator<Weights> {
  const draw = seededDraw(SEED);
  const total = resampleCount(apps);
  const blockDraws = Math.min(total, Math.max(1, Math.floor(BLOCK_VALUES / apps)));
  for (let start = 0; start < total; start += blockDraws) {
    const draws = Math.min(blockDraws, total - start);
    const values = new Uint8Array(apps * draws);
    for (let index = 0; index < draws; index += 1) {
      for (let pick = 0; pick < apps; pick += 1) {
        const place = draw(apps) * draws + index;
        values[place] = (values[place] ?? 0) + 1;
      }
    }
    yield { draws, values };
  }
}

type Four<Item> = readonly [Item, Item, Item, Item];

/** Adds what four apps give; at once, since reading and writing the sums is most of the work. */
function addFour(sums: Float64Array, [ofA, ofB, ofC, ofD]: Four<Uint8Array>, [a, b, c, d]: Four<number>): void {
  for (let draw = 0; draw < sums.length; draw += 1) {
    const ab = (ofA[draw] ?? 0) * a + (ofB[draw] ?? 0) * b;
    sums[draw] = (sums[draw] ?? 0) + ab + ((ofC[draw] ?? 0) * c + (ofD[draw] ?? 0) * d);
  }
}

/** The weighted sum of one number per app, for every draw of a block. */
export function weightedSums({ draws, values }: Weights, column: readonly number[]): Float64Array {
  const sums = new Float64Array(draws);
  const nothing = new Uint8Array(draws);
  const valueAt = (app: number): number => column[app] ?? 0;
  const weightsOf = (app: number): Uint8Array =>
    app < column.length ? values.subarray(app * draws, (app + 1) * draws) : nothing;
  const fourOf = <Item>(app: number, pick: (app: number) => Item): Four<Item> => [
    pick(app),
    pick(app + 1),
    pick(app + 2),
    pick(app + 3),
  ];
  for (let app = 0; app < column.length; app += 4) addFour(sums, fourOf(app, weightsOf), fourOf(app, valueAt));
  return sums;
}
