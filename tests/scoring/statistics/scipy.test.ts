import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { bootstrapIntervals, pairedIntervals } from "../../../src/scoring/statistics/bootstrap.ts";
import type { Interval } from "../../../src/scoring/statistics/bootstrap.ts";
import { meanMeasure } from "../../../src/scoring/statistics/measure.ts";
import { permutationTest } from "../../../src/scoring/statistics/permutation.ts";
import { wilson } from "../../../src/scoring/statistics/wilson.ts";

// CI names a Python that has SciPy; elsewhere the one at hand may have it.
const python = process.env["EVOWEB_SCIPY_PYTHON"] ?? "python3";
const hasScipy =
  spawnSync(python, ["-c", "import scipy; assert tuple(map(int, scipy.__version__.split('.')[:2])) >= (1, 15)"])
    .status === 0;

const PROGRAM = `
import json, sys
import numpy as np
from scipy import stats
given = json.load(sys.stdin)
a, b, top, bottom = (np.array(given[name], dtype=float) for name in ("a", "b", "top", "bottom"))
def interval(data, statistic):
    found = stats.bootstrap(data, statistic, n_resamples=10000, method="percentile", paired=True, vectorized=True, rng=np.random.default_rng(1))
    low, high = found.confidence_interval
    return [low, high, found.standard_error]
def difference(x, y, axis=-1):
    return np.mean(y, axis=axis) - np.mean(x, axis=axis)
few = slice(0, 10)
exact = stats.permutation_test((a[few], b[few]), difference, permutation_type="samples", n_resamples=np.inf, vectorized=True)
ci = stats.binomtest(31, 40).proportion_ci(method="wilson")
print(json.dumps({
    "mean": interval((a,), np.mean),
    "ratio": interval((top, bottom), lambda t, n, axis=-1: np.sum(t, axis=axis) / np.sum(n, axis=axis)),
    "difference": interval((a, b), difference),
    "p": exact.pvalue,
    "wilson": [ci.low, ci.high],
}))
`;

interface Answer {
  readonly mean: readonly [low: number, high: number, error: number];
  readonly ratio: Answer["mean"];
  readonly difference: Answer["mean"];
  readonly p: number;
  readonly wilson: readonly [low: number, high: number];
}

const given = {
  a: Array.from({ length: 32 }, (_, index) => (index * 37) % 101),
  b: Array.from({ length: 32 }, (_, index) => ((index * 37) % 101) + ((index * 17) % 23) - 6),
  top: Array.from({ length: 32 }, (_, index) => (index * 5) % 7),
  bottom: Array.from({ length: 32 }, (_, index) => 6 + (index % 4)),
};

/** The ends of a 95 % interval from 10,000 resamples have a standard error of 0.027 standard errors; two such, five times. */
function expectClose(interval: Interval | null | undefined, [low, high, error]: Answer["mean"]): void {
  expect(Math.abs((interval?.low ?? Infinity) - low)).toBeLessThan(0.2 * error);
  expect(Math.abs((interval?.high ?? Infinity) - high)).toBeLessThan(0.2 * error);
}

test.skipIf(!hasScipy)("SciPy finds the same intervals and p-values", { timeout: 120_000 }, () => {
  const { stdout, stderr } = spawnSync(python, ["-c", PROGRAM], { input: JSON.stringify(given), encoding: "utf8" });
  expect(stderr).toBe("");
  const answer = JSON.parse(stdout) as Answer;
  const [a, b] = [meanMeasure(given.a), meanMeasure(given.b)];
  const [mean, ratio] = bootstrapIntervals(32, [a, { top: given.top, bottom: given.bottom }]);
  expectClose(mean, answer.mean);
  expectClose(ratio, answer.ratio);
  expectClose(pairedIntervals(32, [{ a, b }])[0], answer.difference);
  const exact = permutationTest({ a: meanMeasure(given.a.slice(0, 10)), b: meanMeasure(given.b.slice(0, 10)) });
  expect(exact?.isExact).toBe(true);
  expect(exact?.p).toBeCloseTo(answer.p, 9);
  const rate = wilson([31, 40]);
  expect(rate?.low).toBeCloseTo(answer.wilson[0], 9);
  expect(rate?.high).toBeCloseTo(answer.wilson[1], 9);
});
