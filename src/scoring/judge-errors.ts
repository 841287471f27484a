import { countFlips } from "./flips.ts";
import { wilson } from "./statistics/wilson.ts";

/** What is right about a check; whoever knows it is never undecided. */
export type TrueVerdict = "YES" | "PARTIAL" | "NO";

/** One check whose truth is known, with what a judge said. */
export interface JudgedTruth {
  readonly truth: TrueVerdict;
  /** What the judge said, one entry a pass; at least one. Only the first is compared with the truth. */
  readonly verdicts: readonly (TrueVerdict | "MISSING")[];
  /** US dollars over all passes; null when unknown, 0 when no model took part. */
  readonly costUsd: number | null;
  /** Over all passes. */
  readonly durationMs: number;
}

/** How often a judge was wrong in one way, with Wilson's 95 % interval; the rates are null when there was nothing to get wrong. */
export interface ErrorRate {
  readonly count: number;
  readonly of: number;
  readonly rate: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** A judge against the truth. PARTIAL is "not YES" on both sides; MISSING is in no rate. */
export interface JudgeErrors {
  readonly checks: number;
  /** By true verdict, then by the judge's. */
  readonly confusion: Readonly<Record<TrueVerdict, Readonly<Record<TrueVerdict | "MISSING", number>>>>;
  /** Said YES of what is not. */
  readonly falseYes: ErrorRate;
  /** Said NO or PARTIAL of what is YES. */
  readonly falseNo: ErrorRate;
  /** Checks without a verdict. */
  readonly missing: number;
  /** Mean of the rates at which YES and not YES are recognised; null when one of them did not occur. */
  readonly balancedAccuracy: number | null;
  /** Cohen's kappa of YES against not YES; null when agreement by chance is certain. */
  readonly kappa: number | null;
  /** See `countFlips`; null with one pass. */
  readonly flipRate: number | null;
  /** US dollars over all passes; null when unknown. */
  readonly costUsd: number | null;
  /** Mean time of one judgement; null without checks. */
  readonly msPerCheck: number | null;
}

const TRUTHS = ["YES", "PARTIAL", "NO"] as const;
const SAID = ["YES", "PARTIAL", "NO", "MISSING"] as const;

/** Compares verdicts with the truth. */
export function judgeErrors(items: readonly JudgedTruth[]): JudgeErrors {
  const count = (truth: TrueVerdict, said: TrueVerdict | "MISSING"): number =>
    items.filter((item) => item.truth === truth && item.verdicts[0] === said).length;
  const row = (truth: TrueVerdict) =>
    Object.fromEntries(SAID.map((said) => [said, count(truth, said)])) as Record<TrueVerdict | "MISSING", number>;
  const confusion = Object.fromEntries(TRUTHS.map((truth) => [truth, row(truth)])) as Record<
    TrueVerdict,
    ReturnType<typeof row>
  >;
  const { YES: yes, PARTIAL: partial, NO: no } = confusion;
  const table: Table = {
    rightYes: yes.YES,
    falseNo: yes.PARTIAL + yes.NO,
    falseYes: partial.YES + no.YES,
    rightNo: partial.PARTIAL + partial.NO + no.PARTIAL + no.NO,
  };
  const falseYes = rateOf(table.falseYes, table.falseYes + table.rightNo);
  const falseNo = rateOf(table.falseNo, table.falseNo + table.rightYes);
  const judgements = items.reduce((sum, { verdicts }) => sum + verdicts.length, 0);
  const costs = items.map(({ costUsd }) => costUsd);
  return {
    checks: items.length,
    confusion,
    falseYes,
    falseNo,
    missing: yes.MISSING + partial.MISSING + no.MISSING,
    balancedAccuracy:
      falseYes.rate === null || falseNo.rate === null ? null : (1 - falseYes.rate + (1 - falseNo.rate)) / 2,
    kappa: kappaOf(table),
    flipRate: countFlips(items.map(({ verdicts }) => verdicts)).rate,
    costUsd: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    msPerCheck: judgements === 0 ? null : items.reduce((sum, { durationMs }) => sum + durationMs, 0) / judgements,
  };
}

interface Table {
  readonly rightYes: number;
  readonly falseNo: number;
  readonly falseYes: number;
  readonly rightNo: number;
}

function rateOf(count: number, of: number): ErrorRate {
  const interval = wilson([count, of]);
  const rate = of === 0 ? null : count / of;
  return { count, of, rate, low: interval?.low ?? null, high: interval?.high ?? null };
}

/** Agreement beyond what chance gives at these shares of YES. */
function kappaOf({ rightYes, falseNo, falseYes, rightNo }: Table): number | null {
  const all = rightYes + falseNo + falseYes + rightNo;
  if (all === 0) return null;
  // In whole numbers, so that a judge no better than chance has exactly 0.
  const chance = (rightYes + falseNo) * (rightYes + falseYes) + (falseYes + rightNo) * (falseNo + rightNo);
  return chance === all * all ? null : ((rightYes + rightNo) * all - chance) / (all * all - chance);
}
