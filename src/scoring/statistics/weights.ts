/** For some draws, whether (1) or not (0) each app counts in each: `values[app * draws + draw]`. */
export interface Weights {
  readonly draws: number;
  readonly values: Uint8Array;
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
