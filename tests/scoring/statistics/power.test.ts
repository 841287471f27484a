import { jStat } from "jstat";
import { describe, expect, it } from "vitest";
import { appsNeeded, noiseOf, simulatePower } from "../../../src/scoring/statistics/power.ts";

// The quantiles of a normal distribution with a standard deviation of 10, which closed forms know.
const deviations = Array.from({ length: 400 }, (_, index) => jStat.normal.inv((index + 0.5) / 400, 0, 10));
const noise = { deviations, source: "within" } as const;
// Differences of two values have twice the variance; the usual sample size for a two-sided paired test.
const quantiles = jStat.normal.inv(0.975, 0, 1) + jStat.normal.inv(0.8, 0, 1);
const closedForm = (difference: number, repeats: number): number =>
  (quantiles ** 2 * 2 * 10 ** 2) / repeats / difference ** 2;

describe("planning a comparison", () => {
  it.each([
    [5, 1],
    [5, 2],
    [10, 1],
  ])("a difference of %d with %d repeats takes about as many apps as the closed form says", (difference, repeats) => {
    const apps = appsNeeded(noise, repeats, { difference, power: 0.8 }) ?? 0;
    const expected = closedForm(difference, repeats);
    // A test on few apps needs a little more than the normal distribution says; the power is known to two points.
    expect(apps).toBeGreaterThan(0.85 * expected);
    expect(apps).toBeLessThan(1.2 * expected + 3);
  });

  it("sees nothing where there is nothing, except once in twenty times", () => {
    expect(simulatePower(noise, { apps: 20, repeats: 1 }, 0)).toBeLessThan(0.1);
  });

  it("takes noise from repeats where there are any, else from all that apps differ by", () => {
    const within = noiseOf([[10, 12], [50, 52], [7]]);
    expect(within?.source).toBe("within");
    for (const deviation of within?.deviations ?? []) expect(Math.abs(deviation)).toBeCloseTo(Math.SQRT2, 12);
    expect(noiseOf([[10], [50]])?.source).toBe("between");
    expect(noiseOf([[10]])).toBeNull();
  });
});
