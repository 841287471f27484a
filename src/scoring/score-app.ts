import type { SampledRow } from "../dataset/row.ts";
import type { AppObservations, RequestState } from "../trace/observations.ts";
import { completeApp } from "./completion.ts";
import type { Completion, CompletionName } from "./completion.ts";
import { gradeApp, percentBuilt } from "./grade.ts";
import type { Grades } from "./grade.ts";
import { followOwnChecks, forgetting } from "./own-checks.ts";
import { planRow } from "./row-plan.ts";
import type { RowPlan } from "./row-plan.ts";
import { blameApp } from "./side-numbers.ts";
import type { Blame } from "./side-numbers.ts";
import { leadingRun, longestRun, passRetention, strictTurns, usableTurns } from "./turns.ts";
import type { Ratio, TurnFlags } from "./turns.ts";
import { countVerdicts } from "./verdict-counts.ts";
import type { VerdictCounts } from "./verdict-counts.ts";

/** All metrics of one app under one completion of missing data; definition v1. */
export interface AppMetrics extends Grades {
  /** Number of requests. */
  readonly N: number;
  /** Leading run of usable requests, 0..N. */
  readonly survival: number;
  /** Leading run of strict requests, 0..N. */
  readonly cpt: number;
  /** 1 passed, 0 not, null for a request without checks. */
  readonly strict: readonly (0 | 1 | null)[];
  readonly usable: readonly (0 | 1 | null)[];
  /** Grade with first observations, ungated. */
  readonly built: number | null;
  readonly apr: Ratio;
  readonly aprUsable: Ratio;
  readonly br: Ratio;
  readonly lateRepair: Ratio;
  /** Credit lost on net since first seen, at most 1, negative when repairs outweigh; null when none was earned. */
  readonly frNet: number | null;
  /** Share of checks once YES that end below YES; null when none was. */
  readonly frGross: number | null;
  readonly unmatched: readonly number[];
  readonly emptyRequests: readonly number[];
}

/** Numbers beside the metrics, from the primary reading. */
interface AppSide extends Blame {
  /** `sweep` when the last snapshot was observed again as a whole, else `locf`. */
  readonly observation: "locf" | "sweep";
  /** How far each request came. */
  readonly states: readonly RequestState[];
  readonly longestRun: number;
  readonly usableCount: number;
  /** APR without transitions that missing verdicts leave open. */
  readonly aprObserved: Ratio;
  /** Transitions that left APR because nobody knows whether the agent answered. */
  readonly unknownTransitions: number;
  /** 1-based requests the agent never answered. */
  readonly silentRequests: readonly number[];
  /** Archetype of every root failure, in order; null where the row names none. */
  readonly rootArchetypes: readonly (string | null)[];
  /** True when a final sweep was meant and none of its verdicts is there. */
  readonly isSweepMissing: boolean;
  readonly counts: VerdictCounts;
}

/** The score of one app. */
export interface AppScore {
  readonly sampleIndex: number;
  /** Id of the row. */
  readonly id: string;
  readonly primary: AppMetrics;
  /** Every missing verdict read as NO. */
  readonly lo: AppMetrics;
  /** Every missing verdict read as YES. */
  readonly hi: AppMetrics;
  readonly side: AppSide;
}

const digits = (flags: TurnFlags): (0 | 1 | null)[] => flags.map((flag) => (flag === null ? null : flag ? 1 : 0));

interface Reading {
  readonly completion: Completion;
  readonly strict: TurnFlags;
  readonly usable: TurnFlags;
}

function readApp(plan: RowPlan, app: AppObservations, name: CompletionName): Reading {
  const completion = completeApp(plan, app, name);
  return { completion, strict: strictTurns(plan, completion), usable: usableTurns(plan, completion) };
}

function measure(plan: RowPlan, { completion, strict, usable }: Reading): AppMetrics {
  const own = followOwnChecks(plan, completion);
  return {
    N: plan.requests.length,
    survival: leadingRun(usable),
    cpt: leadingRun(strict),
    strict: digits(strict),
    usable: digits(usable),
    built: percentBuilt(plan, own.first),
    ...gradeApp(plan, own.last, completion.isUpAtEnd),
    apr: passRetention(strict, completion.responded),
    aprUsable: passRetention(usable, completion.responded),
    br: own.br,
    lateRepair: own.lateRepair,
    ...forgetting(plan, own),
    unmatched: plan.unmatched,
    emptyRequests: plan.emptyRequests,
  };
}

function countUnknownTransitions({ completion, strict }: Reading): number {
  return completion.responded.filter(
    (responded, index) => index > 0 && responded === null && strict[index - 1] === true && strict[index] !== null,
  ).length;
}

/** Scores one app from what was observed of it; `observations` of another row give nonsense, not an error. */
export function scoreApp({ sampleIndex, row }: SampledRow, observations: AppObservations): AppScore {
  const plan = planRow(row);
  const primary = readApp(plan, observations, "primary");
  // Without gaps the completions are the same, and most apps have none.
  const { hasGaps } = primary.completion;
  const lo = hasGaps ? readApp(plan, observations, "lo") : primary;
  const hi = hasGaps ? readApp(plan, observations, "hi") : primary;
  const metrics = measure(plan, primary);
  const isDetermined = (index: number): boolean => lo.strict[index] === hi.strict[index];
  const { responded } = primary.completion;
  const blame = blameApp(plan, primary.completion, primary.usable);
  return {
    sampleIndex,
    id: row.id,
    primary: metrics,
    lo: hasGaps ? measure(plan, lo) : metrics,
    hi: hasGaps ? measure(plan, hi) : metrics,
    side: {
      observation: observations.sweep === null ? "locf" : "sweep",
      states: plan.requests.map((_, index) => observations.requests.get(index + 1)?.state ?? "not_run"),
      longestRun: longestRun(primary.usable),
      usableCount: primary.usable.filter((flag) => flag === true).length,
      aprObserved: passRetention(primary.strict, responded, isDetermined),
      unknownTransitions: countUnknownTransitions(primary),
      silentRequests: responded.flatMap((value, index) => (value === false ? [index + 1] : [])),
      ...blame,
      rootArchetypes: blame.rootFailures.map((number) => plan.requests[number - 1]?.archetype ?? null),
      isSweepMissing: observations.sweep !== null && observations.sweep.size === 0,
      counts: countVerdicts(plan, observations),
    },
  };
}
