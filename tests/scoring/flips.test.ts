import { expect, it } from "vitest";
import { countFlips } from "../../src/scoring/flips.ts";

it("the flip rate is the share of pairs of passes that disagree, averaged over checks", () => {
  expect(countFlips([])).toEqual({ checks: 0, flipped: 0, rate: null });
  expect(countFlips([["YES"], ["NO"]])).toEqual({ checks: 0, flipped: 0, rate: null });
  expect(countFlips([["YES", "YES"], ["YES", "NO"], ["NO"]])).toEqual({ checks: 2, flipped: 1, rate: 0.5 });
  // One of three passes differs: two of three pairs.
  expect(countFlips([["YES", "YES", "MISSING"]]).rate).toBeCloseTo(2 / 3);
});
