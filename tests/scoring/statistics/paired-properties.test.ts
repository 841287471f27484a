import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pairedIntervals } from "../../../src/scoring/statistics/bootstrap.ts";
import { meanMeasure, valueOf } from "../../../src/scoring/statistics/measure.ts";
import { permutationTest } from "../../../src/scoring/statistics/permutation.ts";

const value = fc.integer({ min: 0, max: 100 });
const sides = fc.array(fc.tuple(value, value), { minLength: 2, maxLength: 12 });

describe("for any two sides", () => {
  it("shifting both leaves the difference, its interval and its p-value", () => {
    fc.assert(
      fc.property(sides, fc.integer({ min: -50, max: 50 }), (values, shift) => {
        const pairOf = (by: number): { a: ReturnType<typeof meanMeasure>; b: ReturnType<typeof meanMeasure> } => ({
          a: meanMeasure(values.map(([a]) => a + by)),
          b: meanMeasure(values.map(([, b]) => b + by)),
        });
        const [plain, shifted] = [pairOf(0), pairOf(shift)];
        const [one, other] = [plain, shifted].map((pair) => pairedIntervals(values.length, [pair])[0]);
        expect(other?.low).toBeCloseTo(one?.low ?? Number.NaN, 9);
        expect(other?.high).toBeCloseTo(one?.high ?? Number.NaN, 9);
        expect(permutationTest(shifted)?.p).toBe(permutationTest(plain)?.p);
      }),
      { numRuns: 25 },
    );
  });

  it("changing them over turns the difference round and keeps the exact p-value, whatever the order of the apps", () => {
    fc.assert(
      fc.property(sides, (values) => {
        const a = meanMeasure(values.map(([one]) => one));
        const b = meanMeasure(values.map(([, other]) => other));
        const reversed = values.toReversed();
        const [p, over, back] = [
          permutationTest({ a, b }),
          permutationTest({ a: b, b: a }),
          permutationTest({
            a: meanMeasure(reversed.map(([one]) => one)),
            b: meanMeasure(reversed.map(([, other]) => other)),
          }),
        ];
        expect(over?.p).toBe(p?.p);
        expect(back?.p).toBe(p?.p);
        const [there] = pairedIntervals(values.length, [{ a, b }]);
        const [here] = pairedIntervals(values.length, [{ a: b, b: a }]);
        expect(here?.low).toBeCloseTo(-(there?.high ?? Number.NaN), 9);
        expect(valueOf(a)).not.toBeNull();
      }),
      { numRuns: 25 },
    );
  });
});
