import { SEED, seededDraw } from "./random.ts";

/** Apps drawn with replacement, one draw after the other: `picks[draw * apps]` and the next ones are the apps of a draw. */
export interface Resamples {
  readonly apps: number;
  readonly draws: number;
  readonly picks: Uint32Array;
}

/** How often apps are drawn anew. */
const RESAMPLES = 10_000;
const FEWEST_RESAMPLES = 1000;
// With more than a thousand apps the interval is narrow and the work would grow without use.
const MOST_PICKS = 10_000_000;
const BLOCK_PICKS = 1 << 22;

/** Number of resamples for so many apps: 10,000; above a thousand apps fewer, at least 1,000. */
export function resampleCount(apps: number): number {
  return Math.min(RESAMPLES, Math.max(FEWEST_RESAMPLES, Math.floor(MOST_PICKS / Math.max(1, apps))));
}

/** Runs of one data set have the same number of apps, and so the very same resamples. */
const known = new Map<number, readonly Resamples[]>();
const KNOWN_LIMIT = 4;

/** Apps drawn with replacement, as often as there are apps; in blocks that bound the memory. The same number gives the same draws. */
export function resamples(apps: number): Iterable<Resamples> {
  const cached = known.get(apps);
  if (cached !== undefined) return cached;
  if (apps * resampleCount(apps) > BLOCK_PICKS) return drawBlocks(apps);
  const blocks = [...drawBlocks(apps)];
  if (known.size >= KNOWN_LIMIT) known.clear();
  known.set(apps, blocks);
  return blocks;
}

function* drawBlocks(apps: number): Generator<Resamples> {
  const draw = seededDraw(SEED);
  const total = resampleCount(apps);
  const blockDraws = Math.min(total, Math.max(1, Math.floor(BLOCK_PICKS / apps)));
  for (let start = 0; start < total; start += blockDraws) {
    const draws = Math.min(blockDraws, total - start);
    const picks = new Uint32Array(apps * draws);
    for (let place = 0; place < picks.length; place += 1) picks[place] = draw(apps);
    yield { apps, draws, picks };
  }
}

type Three<Item> = readonly [Item, Item, Item];

/** Sums three columns over the apps of each draw; at once, since finding the apps is most of the work. */
function sumThree({ apps, draws, picks }: Resamples, [a, b, c]: Three<Float64Array>): Three<Float64Array> {
  const sums = [new Float64Array(draws), new Float64Array(draws), new Float64Array(draws)] as const;
  const [ofA, ofB, ofC] = sums;
  let place = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let x = 0;
    let y = 0;
    let z = 0;
    const end = place + apps;
    for (; place < end; place += 1) {
      const app = picks[place] ?? 0;
      x += a[app] ?? 0;
      y += b[app] ?? 0;
      z += c[app] ?? 0;
    }
    ofA[draw] = x;
    ofB[draw] = y;
    ofC[draw] = z;
  }
  return sums;
}

/** For each column of one number per app, its sum over the apps of every draw. */
export function resampledSums(resampled: Resamples, columns: readonly (readonly number[])[]): Float64Array[] {
  const sums: Float64Array[] = [];
  const columnAt = (index: number): Float64Array => {
    const column = columns[index];
    return column === undefined ? new Float64Array(resampled.apps) : Float64Array.from(column);
  };
  for (let index = 0; index < columns.length; index += 3) {
    sums.push(...sumThree(resampled, [columnAt(index), columnAt(index + 1), columnAt(index + 2)]));
  }
  return sums;
}
