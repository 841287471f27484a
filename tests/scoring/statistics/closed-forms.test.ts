import { jStat } from "jstat";
import { describe, expect, it } from "vitest";
import { bootstrapIntervals, pairedIntervals } from "../../../src/scoring/statistics/bootstrap.ts";
import { holm } from "../../../src/scoring/statistics/holm.ts";
import { meanMeasure, valueOf } from "../../../src/scoring/statistics/measure.ts";
import { permutationTest } from "../../../src/scoring/statistics/permutation.ts";
import { quantile } from "../../../src/scoring/statistics/quantile.ts";
import { seededDraw } from "../../../src/scoring/statistics/random.ts";
import { kaplanMeier } from "../../../src/scoring/statistics/survival-curve.ts";
import { resampleCount, resamples } from "../../../src/scoring/statistics/resamples.ts";
import { wilson } from "../../../src/scoring/statistics/wilson.ts";

describe("drawing by lot", () => {
  it("gives the same numbers everywhere, each about as often", () => {
    const draw = seededDraw(1);
    expect(Array.from({ length: 8 }, () => draw(10))).toMatchInlineSnapshot(`
      [
        0,
        5,
        8,
        4,
        4,
        5,
        7,
        6,
      ]
    `);
    const counts = Array.from({ length: 5 }, () => 0);
    for (let index = 0; index < 100_000; index += 1) {
      const number = draw(5);
      counts[number] = (counts[number] ?? 0) + 1;
    }
    // Five standard deviations.
    for (const count of counts) expect(Math.abs(count - 20_000)).toBeLessThan(5 * Math.sqrt(100_000 * 0.2 * 0.8));
  });

  it("every resample holds as many apps as there are, however many blocks it takes", () => {
    for (const apps of [2, 32, 3000]) {
      let draws = 0;
      for (const resampled of resamples(apps)) {
        draws += resampled.draws;
        expect(resampled.picks).toHaveLength(apps * resampled.draws);
        expect(resampled.picks.every((app) => app < apps)).toBe(true);
      }
      expect(draws).toBe(resampleCount(apps));
    }
    expect([2, 32, 1000, 3000, 1_000_000].map(resampleCount)).toEqual([10_000, 10_000, 10_000, 3333, 1000]);
  });
});

describe("the bootstrap", () => {
  const values = Array.from({ length: 60 }, (_, index) => (index * 37) % 61);

  it("of a mean is near the normal approximation", () => {
    const [interval] = bootstrapIntervals(60, [meanMeasure(values)]);
    const average = valueOf(meanMeasure(values)) ?? 0;
    const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / 60;
    const half = jStat.normal.inv(0.975, 0, 1) * Math.sqrt(variance / 60);
    expect(interval?.dropped).toBe(0);
    expect(Math.abs((interval?.low ?? 0) - (average - half))).toBeLessThan(0.05 * half);
    expect(Math.abs((interval?.high ?? 0) - (average + half))).toBeLessThan(0.05 * half);
  });

  it("has no interval with one app, and none for a metric without a denominator", () => {
    expect(bootstrapIntervals(1, [meanMeasure([3])])).toEqual([null]);
    expect(bootstrapIntervals(2, [{ top: [0, 0], bottom: [0, 0] }])).toEqual([null]);
  });

  it("drops and counts the resamples without a denominator: about a quarter where one app of two has one", () => {
    const [interval] = bootstrapIntervals(2, [{ top: [3, 0], bottom: [4, 0] }]);
    expect(interval).toMatchObject({ low: 0.75, high: 0.75 });
    expect(Math.abs((interval?.dropped ?? 0) - 2500)).toBeLessThan(5 * Math.sqrt(10_000 * 0.25 * 0.75));
  });

  it("of a difference uses the same apps on both sides: a constant gain has no spread", () => {
    const [interval] = pairedIntervals(60, [
      { a: meanMeasure(values), b: meanMeasure(values.map((value) => value + 5)) },
    ]);
    expect(interval?.low).toBeCloseTo(5, 9);
    expect(interval?.high).toBeCloseTo(5, 9);
  });
});

describe("quantiles", () => {
  it("are linear between ranks, whatever the order", () => {
    expect(quantile(Float64Array.of(4, 1, 3, 2), 0.5)).toBe(2.5);
    expect(quantile(Float64Array.of(5, 5, 5), 0.3)).toBe(5);
    expect(quantile(Float64Array.of(9, 7, 8), 1)).toBe(9);
    const shuffled = Float64Array.from({ length: 1001 }, (_, index) => (index * 449) % 1001);
    for (const share of [0, 0.025, 0.333, 0.975]) expect(quantile(shuffled, share)).toBeCloseTo(1000 * share, 9);
  });
});

describe("Wilson's interval", () => {
  it("solves the score equation at the quantile of the normal distribution", () => {
    const z = jStat.normal.inv(0.975, 0, 1);
    for (const [passed, trials] of [
      [3, 10],
      [31, 32],
      [1, 500],
    ] as const) {
      const interval = wilson([passed, trials]);
      for (const bound of [interval?.low ?? 0, interval?.high ?? 0]) {
        expect(Math.abs(passed / trials - bound) / Math.sqrt((bound * (1 - bound)) / trials)).toBeCloseTo(z, 6);
      }
    }
  });

  it("ends at 0 and 1 exactly, and is nothing without trials", () => {
    expect(wilson([0, 8])?.low).toBe(0);
    expect(wilson([8, 8])?.high).toBe(1);
    expect(wilson([0, 0])).toBeNull();
  });
});

describe("the paired permutation test", () => {
  it("tries every exchange for few apps: gains of 1, 2 and 3 are as extreme in 2 of 8", () => {
    const test = permutationTest({ a: meanMeasure([0, 0, 0]), b: meanMeasure([1, 2, 3]) });
    expect(test).toEqual({ p: 0.25, isExact: true, exchanges: 8, dropped: 0 });
  });

  it("gains of 1, 2 and -3 are no difference at all", () => {
    expect(permutationTest({ a: meanMeasure([0, 0, 3]), b: meanMeasure([1, 2, 0]) })?.p).toBe(1);
  });

  it("exchanges both counts of a ratio, and drops exchanges that leave a side without any", () => {
    const test = permutationTest({ a: { top: [1, 0], bottom: [2, 0] }, b: { top: [2, 0], bottom: [2, 1] } });
    // 2/3 - 1/2 as observed, 1/3 - 2/2 with app 1 exchanged, and their mirror images.
    expect(test).toEqual({ p: 1, isExact: true, exchanges: 4, dropped: 0 });
    const gaps = permutationTest({ a: { top: [1, 0], bottom: [1, 0] }, b: { top: [0, 0], bottom: [0, 1] } });
    expect(gaps).toEqual({ p: 1, isExact: true, exchanges: 2, dropped: 2 });
  });

  it("draws exchanges for many apps; a gain everywhere has the smallest p that can be drawn", () => {
    const zeros = Array.from({ length: 32 }, () => 0);
    const test = permutationTest({ a: meanMeasure(zeros), b: meanMeasure(zeros.map(() => 1)) });
    expect(test).toEqual({ p: 1 / 10_001, isExact: false, exchanges: 10_000, dropped: 0 });
  });
});

describe("Holm's adjustment", () => {
  it("steps down and never falls back", () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
    for (const [index, p] of [0.03, 0.06, 0.06, 0.02].entries()) expect(adjusted[index]).toBeCloseTo(p, 12);
    expect(holm([0.6, 0.7])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });
});

describe("Kaplan and Meier's estimate", () => {
  it("by hand: five apps of four requests, one lost after two", () => {
    const points = kaplanMeier([
      { survived: 0, hasFailed: true, planned: 4 },
      { survived: 2, hasFailed: false, planned: 4 },
      { survived: 2, hasFailed: true, planned: 4 },
      { survived: 4, hasFailed: false, planned: 4 },
      { survived: 3, hasFailed: true, planned: 4 },
    ]);
    expect(points.map(({ atRisk, failed, lost }) => [atRisk, failed, lost])).toEqual([
      [5, 1, 0],
      [4, 0, 0],
      [3, 1, 1],
      [2, 1, 0],
    ]);
    const shares = [4 / 5, 4 / 5, (4 / 5) * (2 / 3), (4 / 5) * (2 / 3) * (1 / 2)];
    for (const [index, share] of shares.entries()) expect(points[index]?.share).toBeCloseTo(share, 12);
  });

  it("a shorter row ends without failing, and where nobody is left nothing is claimed", () => {
    const points = kaplanMeier([
      { survived: 1, hasFailed: false, planned: 1 },
      { survived: 1, hasFailed: false, planned: 3 },
    ]);
    expect(points.map(({ atRisk, lost, share }) => [atRisk, lost, share])).toEqual([
      [2, 0, 1],
      [0, 1, null],
      [0, 0, null],
    ]);
  });
});
