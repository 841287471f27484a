/** The seed of everything here that draws by lot: the same run gives the same interval everywhere. */
export const SEED = 20_260_101;

/** Draws whole numbers from 0 up to, and without, `bound` (at most 2^32). */
export type Draw = (bound: number) => number;

const TWO_32 = 4_294_967_296;

/** Spreads a seed over the state of the generator; Steele, Lea and Flood's SplitMix in its 32-bit form. */
function spread(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e_37_79_b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21_f0_aa_ad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x73_5a_2d_97);
    return mixed ^ (mixed >>> 15);
  };
}

/** Blackman and Vigna's xoshiro128** in whole-number arithmetic only, so the same seed gives the same draws on every machine. */
export function seededDraw(seed: number): Draw {
  const next = spread(seed);
  let [a, b, c, d] = [next(), next(), next(), next()];
  return (bound) => {
    const product = Math.imul(b, 5);
    const word = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    // Exact in a double; for the bounds met here the bias is below one in a million.
    return Math.floor((word / TWO_32) * bound);
  };
}
