import type { AppObservations, Observation } from "../trace/observations.ts";
import type { ErrorRate } from "./judge-errors.ts";
import { scoreApp } from "./score-app.ts";
import { scoreRun } from "./score-run.ts";
import type { Observed } from "./score.ts";
import { quantile } from "./statistics/quantile.ts";
import { SEED, seededDraw, type Draw } from "./statistics/random.ts";

/** Lowest and highest value. */
type Range = readonly [low: number, high: number];

/** What Grade and Survival may be, given how often the judge is wrong. */
export interface Sensitivity {
  /** 0..100; null without apps, or where the judge cannot be told from chance. */
  readonly grade: Range | null;
  /** Mean requests; null as `grade`. */
  readonly survival: Range | null;
  /** Seeded draws at each end. */
  readonly draws: number;
  /** What the range takes for granted, one sentence each. */
  readonly assumptions: readonly string[];
}

/** The judge's measured error. */
export type MeasuredError = Readonly<Record<"falseYes" | "falseNo", Pick<ErrorRate, "low" | "high">>>;

const DRAWS = 200;
const SCALE = 1_000_000;
const ASSUMPTIONS = [
  "The judge errs here as often as where it was measured: false YES and false NO lie within their 95 % intervals.",
  "Each verdict is wrong or right by itself, whatever the check, the app or the other verdicts.",
  "How many checks truly hold follows from the share of YES and the two rates; a wrong YES counts as NO, a wrong PARTIAL or NO as YES.",
  "MISSING and what was decided without the judge (an app that is down, an error status) stay as they are.",
];

/** Chance that what was said of a check is wrong. */
interface Flips {
  readonly yes: number;
  readonly notYes: number;
}

const isJudged = ({ verdict, cause }: Observation): boolean => verdict !== "MISSING" && cause === "judged";

function shareOfYes({ apps }: Observed): number | null {
  const own = [...apps.values()].flatMap(({ requests }) => [...requests.values()]);
  const judged = own.flatMap(({ checks }) => [...checks.values()]).filter(isJudged);
  return judged.length === 0 ? null : judged.filter(({ verdict }) => verdict === "YES").length / judged.length;
}

const share = (value: number): number => Math.min(1, Math.max(0, value));

/** Bayes: from the rates of error to the chance that a verdict is wrong. Null when the two rates leave no information. */
function flipsOf(saidYes: number, falseYes: number, falseNo: number): Flips | null {
  const information = 1 - falseYes - falseNo;
  if (information <= 0) return null;
  const truth = share((saidYes - falseYes) / information);
  return {
    yes: saidYes === 0 ? 0 : share(((1 - truth) * falseYes) / saidYes),
    notYes: saidYes === 1 ? 0 : share((truth * falseNo) / (1 - saidYes)),
  };
}

type Checks = ReadonlyMap<number, Observation>;

function flipChecks(checks: Checks, flips: Flips, draw: Draw): Checks {
  const flipped = [...checks].map(([index, one]): [number, Observation] => {
    if (!isJudged(one)) return [index, one];
    const isYes = one.verdict === "YES";
    const isWrong = draw(SCALE) < (isYes ? flips.yes : flips.notYes) * SCALE;
    return [index, isWrong ? { verdict: isYes ? "NO" : "YES", cause: one.cause } : one];
  });
  return new Map(flipped);
}

function flipApp(app: AppObservations, flips: Flips, draw: Draw): AppObservations {
  return {
    ...app,
    requests: new Map(
      [...app.requests].map(([number, one]) => [number, { ...one, checks: flipChecks(one.checks, flips, draw) }]),
    ),
    sweep:
      app.sweep &&
      new Map([...app.sweep].map(([number, checks]) => [number, flipChecks(checks, flips, draw)] as const)),
  };
}

/** Grade and Survival over the draws, at `at` of each (0 to 1). */
function scoreFlipped(observed: Observed, flips: Flips, at: number): { grade: number; survival: number } | null {
  const draw = seededDraw(SEED);
  const grades = new Float64Array(DRAWS);
  const survivals = new Float64Array(DRAWS);
  for (let index = 0; index < DRAWS; index += 1) {
    const apps = observed.rows.map((row) => {
      const app = observed.apps.get(row.sampleIndex) ?? {
        sampleIndex: row.sampleIndex,
        requests: new Map(),
        sweep: null,
      };
      return scoreApp(row, flipApp(app, flips, draw));
    });
    const { grade, survival } = scoreRun(apps, observed.isolation);
    if (grade === null || survival === null) return null;
    grades[index] = grade;
    survivals[index] = survival;
  }
  return { grade: quantile(grades, at), survival: quantile(survivals, at) };
}

/**
 * Grade and Survival under a judge's measured error: seeded flips of verdicts at both ends of the two intervals. The low end takes
 * the most false YES and the fewest false NO and the 2.5 % quantile of the draws, the high end the reverse and 97.5 %.
 */
export function scoreSensitivity(observed: Observed, { falseYes, falseNo }: MeasuredError): Sensitivity {
  const nothing = { grade: null, survival: null, draws: DRAWS, assumptions: ASSUMPTIONS };
  const saidYes = shareOfYes(observed);
  // A kind of error that was not measured may have any rate, so nothing can be said.
  if (saidYes === null || falseYes.high === null || falseNo.high === null) return nothing;
  const most = flipsOf(saidYes, falseYes.high, falseNo.low ?? 0);
  const least = flipsOf(saidYes, falseYes.low ?? 0, falseNo.high);
  if (most === null || least === null) return nothing;
  const low = scoreFlipped(observed, most, 0.025);
  const high = scoreFlipped(observed, least, 0.975);
  if (low === null || high === null) return nothing;
  return { ...nothing, grade: [low.grade, high.grade], survival: [low.survival, high.survival] };
}
