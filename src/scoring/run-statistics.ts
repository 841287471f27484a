import type { SampledRow } from "../dataset/row.ts";
import { groupResults } from "./groups.ts";
import type { Groups } from "./groups.ts";
import type { AppScore } from "./score-app.ts";
import { bootstrapIntervals, FEWEST_APPS, LEVEL } from "./statistics/bootstrap.ts";
import type { Interval } from "./statistics/bootstrap.ts";
import { meanMeasure, ratioMeasure } from "./statistics/measure.ts";
import { SEED } from "./statistics/random.ts";
import { kaplanMeier } from "./statistics/survival-curve.ts";
import type { Lifetime, SurvivalPoint } from "./statistics/survival-curve.ts";
import { resampleCount } from "./statistics/resamples.ts";
import { wilson } from "./statistics/wilson.ts";
import type { Ratio } from "./turns.ts";
import { sumCounts } from "./verdict-counts.ts";

/** 95 % intervals of a run's metrics, ratios as shares of 1; primary reading. */
export interface Intervals {
  readonly level: number;
  /** Apps are drawn with replacement, each with all its requests. */
  readonly method: "percentile bootstrap over apps";
  readonly apps: number;
  readonly resamples: number;
  readonly seed: number;
  /** Why there are none; null when there are. */
  readonly unavailable: string | null;
  /** Each null where it cannot be had. */
  readonly grade: Interval | null;
  readonly survival: Interval | null;
  readonly apr: Interval | null;
  readonly br: Interval | null;
  /** Wilson's interval of a single rate: each app has one last turn. */
  readonly tpAtN: { readonly low: number; readonly high: number } | null;
}

/** Which turns failed by themselves and which on broken ground; primary reading. */
interface FailureCounts {
  /** Unusable turns whose parents in the graph were all usable at their latest evidence. */
  readonly root: number;
  /** Unusable turns with a parent that was not. */
  readonly inherited: number;
}

/** How long apps last, censored where nobody knows. */
interface SurvivalCurve {
  readonly estimator: "Kaplan-Meier";
  readonly points: readonly SurvivalPoint[];
}

/** Statistics of a run beside its metrics. */
export interface RunStatistics {
  /** Integration YES, of answered requests with parents that were all usable at their latest evidence. */
  readonly irParentsOk: Ratio;
  /** Integration YES of requests without parents: a global rule was tested. */
  readonly ruleRate: Ratio;
  readonly failures: FailureCounts;
  readonly intervals: Intervals;
  readonly survivalCurve: SurvivalCurve;
  readonly groups: Groups;
}

/** How long an app is known to have lasted: a turn that its missing verdicts leave open neither ends nor prolongs it. */
function lifetimeOf({ primary, hi }: AppScore): Lifetime {
  const counted = primary.usable.flatMap((flag, index) => (flag === null ? [] : [{ flag, best: hi.usable[index] }]));
  const next = counted[primary.survival];
  return { survived: primary.survival, hasFailed: next !== undefined && next.best === 0, planned: counted.length };
}

function whyUnavailable(apps: number): string | null {
  if (apps >= FEWEST_APPS) return null;
  return apps === 0
    ? "no app: there is nothing to draw from"
    : "one app: how much results differ between apps cannot be seen from it";
}

function intervalsOf(scores: readonly AppScore[], tpAtN: Ratio): Intervals {
  // In the order of the plan's numbers: the same apps in another order are the same run.
  const apps = scores.toSorted((a, b) => a.sampleIndex - b.sampleIndex).map(({ primary }) => primary);
  const [grade, survival, apr, br] = bootstrapIntervals(apps.length, [
    meanMeasure(apps.map((app) => app.grade)),
    meanMeasure(apps.map((app) => app.survival)),
    ratioMeasure(apps.map((app) => app.apr)),
    ratioMeasure(apps.map((app) => app.br)),
  ]);
  const isAvailable = apps.length >= FEWEST_APPS;
  return {
    level: LEVEL,
    method: "percentile bootstrap over apps",
    apps: apps.length,
    resamples: isAvailable ? resampleCount(apps.length) : 0,
    seed: SEED,
    unavailable: whyUnavailable(apps.length),
    grade: grade ?? null,
    survival: survival ?? null,
    apr: apr ?? null,
    br: br ?? null,
    tpAtN: wilson(tpAtN),
  };
}

const pool = (ratios: readonly Ratio[]): Ratio =>
  ratios.reduce<Ratio>(([top, bottom], ratio) => [top + ratio[0], bottom + ratio[1]], [0, 0]);

/** Statistics of a run; `apps` are the scores of `rows`, in their order, and `tpAtN` the run's own. */
export function describeRunStatistics(
  rows: readonly SampledRow[],
  apps: readonly AppScore[],
  tpAtN: Ratio,
): RunStatistics {
  const { roles } = sumCounts(apps.map((app) => app.side.counts));
  return {
    irParentsOk: pool(apps.map((app) => app.side.irParentsOk)),
    ruleRate: pool(apps.map((app) => app.side.ruleRate)),
    failures: {
      root: apps.reduce((sum, app) => sum + app.side.rootFailures.length, 0),
      inherited: apps.reduce((sum, app) => sum + app.side.inheritedFailures.length, 0),
    },
    intervals: intervalsOf(apps, tpAtN),
    survivalCurve: { estimator: "Kaplan-Meier", points: kaplanMeier(apps.map(lifetimeOf)) },
    groups: groupResults(rows, apps, roles),
  };
}
