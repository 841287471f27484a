import { describe, expect, it } from "vitest";
import { judgeErrors, type JudgedTruth } from "../../src/scoring/judge-errors.ts";

type Said = JudgedTruth["verdicts"][number];
const item = (truth: JudgedTruth["truth"], ...verdicts: readonly Said[]): JudgedTruth => ({
  truth,
  verdicts,
  costUsd: 0.5,
  durationMs: 100 * verdicts.length,
});

describe("a judge against the truth", () => {
  it("that is always right has no error and a kappa of 1", () => {
    const errors = judgeErrors([item("YES", "YES"), item("NO", "NO"), item("PARTIAL", "PARTIAL")]);
    expect(errors).toMatchObject({
      checks: 3,
      falseYes: { count: 0, of: 2, rate: 0, low: 0 },
      falseNo: { count: 0, of: 1, rate: 0, low: 0 },
      balancedAccuracy: 1,
      kappa: 1,
      flipRate: null,
      costUsd: 1.5,
      msPerCheck: 100,
    });
  });

  it("that always says the same has the known answers", () => {
    const truths = ["YES", "YES", "NO", "PARTIAL", "NO"] as const;
    const yes = judgeErrors(truths.map((truth) => item(truth, "YES")));
    expect(yes).toMatchObject({
      falseYes: { count: 3, of: 3, rate: 1, high: 1 },
      falseNo: { count: 0, of: 2, rate: 0 },
    });
    expect(yes).toMatchObject({ balancedAccuracy: 0.5, kappa: 0 });
    const no = judgeErrors(truths.map((truth) => item(truth, "NO")));
    expect(no).toMatchObject({ falseYes: { rate: 0 }, falseNo: { rate: 1 }, balancedAccuracy: 0.5, kappa: 0 });
  });

  it("counts PARTIAL as not YES on both sides, and shows it in the confusion", () => {
    const errors = judgeErrors([
      item("PARTIAL", "NO"),
      item("NO", "PARTIAL"),
      item("YES", "PARTIAL"),
      item("PARTIAL", "YES"),
    ]);
    expect(errors).toMatchObject({ falseYes: { count: 1, of: 3 }, falseNo: { count: 1, of: 1 } });
    expect(errors.confusion).toEqual({
      YES: { YES: 0, PARTIAL: 1, NO: 0, MISSING: 0 },
      PARTIAL: { YES: 1, PARTIAL: 0, NO: 1, MISSING: 0 },
      NO: { YES: 0, PARTIAL: 1, NO: 0, MISSING: 0 },
    });
  });

  it("keeps MISSING out of every rate, and has no rate where nothing could go wrong", () => {
    const errors = judgeErrors([item("YES", "MISSING"), item("NO", "MISSING")]);
    expect(errors).toMatchObject({
      checks: 2,
      missing: 2,
      falseYes: { count: 0, of: 0, rate: null, low: null, high: null },
      balancedAccuracy: null,
      kappa: null,
    });
    expect(judgeErrors([])).toMatchObject({ checks: 0, msPerCheck: null, costUsd: 0 });
  });

  it("has the kappa of a worked example", () => {
    // Cohen: 20 both yes, 15 both no, 5 and 10 apart: agreement 0.7, by chance 0.5.
    const many = (count: number, one: JudgedTruth): JudgedTruth[] => Array.from({ length: count }, () => one);
    const items = [
      ...many(20, item("YES", "YES")),
      ...many(5, item("YES", "NO")),
      ...many(10, item("NO", "YES")),
      ...many(15, item("NO", "NO")),
    ];
    expect(judgeErrors(items).kappa).toBeCloseTo(0.4);
  });

  it("compares the first pass and takes flips and cost from all; an unknown cost stays unknown", () => {
    const errors = judgeErrors([item("YES", "YES", "NO"), { ...item("NO", "NO", "NO"), costUsd: null }]);
    expect(errors).toMatchObject({ falseNo: { count: 0 }, flipRate: 0.5, costUsd: null, msPerCheck: 100 });
  });
});
