import type { AppMetrics, AppScore } from "./score-app.ts";
import type { Ratio } from "./turns.ts";
import { sumCounts } from "./verdict-counts.ts";
import type { VerdictCounts } from "./verdict-counts.ts";

/** The metrics of a run under one completion: means for Grade, Survival and CPT, pooled ratios for the rest. */
export interface RunMetrics {
  /** Mean over planned apps, 0..100; null without apps. */
  readonly grade: number | null;
  /** Mean over planned apps; null without apps. */
  readonly survival: number | null;
  /** Strict turns of all requested turns. */
  readonly tp: Ratio;
  /** Apps whose last turn is strict. */
  readonly tpAtN: Ratio;
  readonly cpt: number | null;
  readonly apr: Ratio;
  readonly aprUsable: Ratio;
  readonly br: Ratio;
  readonly lateRepair: Ratio;
}

/** What is missing of one app. */
interface NotRun {
  readonly sampleIndex: number;
  /** 1-based requests that did not run to their end. */
  readonly requests: readonly number[];
  /** How many requests the app has. */
  readonly planned: number;
}

/** Numbers beside the metrics of a run, from the primary reading. */
interface RunSide {
  readonly plannedApps: number;
  /** Planned requests that did not run to their end, by sample index. */
  readonly notRun: readonly NotRun[];
  /** Requests that were not run because the agent left nothing to build on; they are failed, not missing. */
  readonly notBuilt: number;
  /** Share of apps with survival of at least 1, 2, ... requests. */
  readonly survivalCurve: readonly Ratio[];
  /** Checks YES of all planned checks: the headline rate, the same for every run. */
  readonly passedOfPlanned: Ratio;
  /** Checks YES of those that got a verdict. */
  readonly passedOfJudged: Ratio;
  readonly partialRate: Ratio;
  readonly missingRate: Ratio;
  readonly appDownRate: Ratio;
  readonly irParentsOk: Ratio;
  readonly ruleRate: Ratio;
  readonly unknownTransitions: number;
  /** Root failures by archetype of the request; "none" where the row names none. */
  readonly rootFailures: Readonly<Record<string, number>>;
  readonly counts: VerdictCounts;
}

/** The score of a run. */
export interface RunScore extends RunMetrics {
  readonly definition: "v1";
  readonly isolation: string | null;
  /** `mixed` when some apps were swept at the end and others were not; such apps do not belong in one table. */
  readonly observation: "locf" | "sweep" | "mixed";
  /** False when planned requests did not run or more than 2 % of own checks are missing: no headline then. */
  readonly complete: boolean;
  /** Planned requests. */
  readonly planned: number;
  /** Requests that ran to their end. */
  readonly requestsRun: number;
  /** Own checks without a verdict at their own request, of all planned own checks. */
  readonly missing: Ratio;
  readonly aprObserved: Ratio;
  readonly lo: RunMetrics;
  readonly hi: RunMetrics;
  readonly side: RunSide;
}

function meanOf(values: readonly (number | null)[]): number | null {
  const counted = values.filter((value) => value !== null);
  return counted.length === 0 ? null : counted.reduce((sum, value) => sum + value, 0) / counted.length;
}

function pool(ratios: readonly Ratio[]): Ratio {
  return ratios.reduce<Ratio>(([top, bottom], ratio) => [top + ratio[0], bottom + ratio[1]], [0, 0]);
}

const countOf = (flags: readonly (0 | 1 | null)[]): Ratio => [
  flags.filter((flag) => flag === 1).length,
  flags.filter((flag) => flag !== null).length,
];

function summarise(apps: readonly AppMetrics[]): RunMetrics {
  return {
    grade: meanOf(apps.map((app) => app.grade)),
    survival: meanOf(apps.map((app) => app.survival)),
    tp: pool(apps.map((app) => countOf(app.strict))),
    tpAtN: pool(apps.map((app) => countOf(app.strict.slice(-1)))),
    cpt: meanOf(apps.map((app) => app.cpt)),
    apr: pool(apps.map((app) => app.apr)),
    aprUsable: pool(apps.map((app) => app.aprUsable)),
    br: pool(apps.map((app) => app.br)),
    lateRepair: pool(apps.map((app) => app.lateRepair)),
  };
}

function survivalCurve(apps: readonly AppScore[]): Ratio[] {
  const length = apps.reduce((longest, app) => Math.max(longest, app.primary.N), 0);
  return Array.from({ length }, (_, index): Ratio => {
    const able = apps.filter((app) => app.primary.N > index);
    return [able.filter((app) => app.primary.survival > index).length, able.length];
  });
}

function countRoots(apps: readonly AppScore[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of apps.flatMap((app) => app.side.rootArchetypes)) {
    counts.set(name ?? "none", (counts.get(name ?? "none") ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b, "en")));
}

function sideOf(apps: readonly AppScore[], counts: VerdictCounts): RunSide {
  const missing = apps.map(({ sampleIndex, side }) => ({
    sampleIndex,
    requests: side.states.flatMap((state, index) => (state === "not_run" || state === "unfinished" ? [index + 1] : [])),
    planned: side.states.length,
  }));
  return {
    plannedApps: apps.length,
    notRun: missing.filter(({ requests }) => requests.length > 0),
    notBuilt: apps.flatMap((app) => app.side.states).filter((state) => state === "no_artifact").length,
    survivalCurve: survivalCurve(apps),
    passedOfPlanned: [counts.yes, counts.planned],
    passedOfJudged: [counts.yes, counts.planned - counts.missing],
    partialRate: [counts.partial, counts.planned - counts.missing],
    missingRate: [counts.missing, counts.planned],
    appDownRate: [counts.appDown, counts.planned],
    irParentsOk: pool(apps.map((app) => app.side.irParentsOk)),
    ruleRate: pool(apps.map((app) => app.side.ruleRate)),
    unknownTransitions: apps.reduce((sum, app) => sum + app.side.unknownTransitions, 0),
    rootFailures: countRoots(apps),
    counts,
  };
}

function modeOf(apps: readonly AppScore[]): RunScore["observation"] {
  const modes = new Set(apps.map((app) => app.side.observation));
  if (modes.size > 1) return "mixed";
  return modes.has("sweep") ? "sweep" : "locf";
}

// 2 % by definition v1, in whole numbers: a float would turn 1 of 50 into a matter of rounding.
const isTooMuchMissing = ([missing, planned]: Ratio): boolean => missing * 50 > planned;

/** Scores a run over all planned apps, those that never ran included. */
export function scoreRun(apps: readonly AppScore[], isolation: string | null): Omit<RunScore, "definition"> {
  const counts = sumCounts(apps.map((app) => app.side.counts));
  const missing: Ratio = [counts.ownMissing, counts.ownPlanned];
  const side = sideOf(apps, counts);
  const states = apps.flatMap((app) => app.side.states);
  return {
    isolation,
    observation: modeOf(apps),
    complete:
      apps.length > 0 &&
      side.notRun.length === 0 &&
      !isTooMuchMissing(missing) &&
      apps.every((app) => !app.side.isSweepMissing),
    planned: states.length,
    requestsRun: states.filter((state) => state === "run").length,
    missing,
    ...summarise(apps.map((app) => app.primary)),
    aprObserved: pool(apps.map((app) => app.side.aprObserved)),
    lo: summarise(apps.map((app) => app.lo)),
    hi: summarise(apps.map((app) => app.hi)),
    side,
  };
}
