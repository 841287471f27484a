import type { AppObservations, Observation } from "../trace/observations.ts";
import type { RowPlan } from "./row-plan.ts";

/** How missing data is read: as it is, all as NO, or all as YES. */
export type CompletionName = "primary" | "lo" | "hi";

/** Half credits of a verdict: NO 0, PARTIAL 1, YES 2; `UNSEEN` where nothing was observed. */
export type HalfCredit = number;
export const UNSEEN: HalfCredit = -1;

/** The observations of one app with missing data completed in one way. */
export interface Completion {
  /** Whether the app is taken as served after each request. */
  readonly up: readonly boolean[];
  /** Whether the app is taken as served at the end of the sequence; gates Grade. */
  readonly isUpAtEnd: boolean;
  /** Null where unknown; the same in all completions. */
  readonly responded: readonly (boolean | null)[];
  /** True when something was missing, so that the completions can differ. */
  readonly hasGaps: boolean;
  /** Half credits by request and check; `UNSEEN` only in the primary reading. */
  readonly turns: readonly (readonly HalfCredit[])[];
  /** Half credits of the final sweep by own check of the row; null without a sweep. */
  readonly sweep: readonly HalfCredit[] | null;
}

const FILL: Record<CompletionName, HalfCredit> = { primary: UNSEEN, lo: 0, hi: 2 };
const CREDIT: Record<Observation["verdict"], HalfCredit | null> = { YES: 2, PARTIAL: 1, NO: 0, MISSING: null };

function creditOf(observation: Observation | undefined, fill: HalfCredit): HalfCredit {
  return observation === undefined ? fill : (CREDIT[observation.verdict] ?? fill);
}

const hasUnseen = (credits: readonly HalfCredit[] | null): boolean => credits?.includes(UNSEEN) === true;

/** Reads an app's observations in one of the three ways. */
export function completeApp(plan: RowPlan, app: AppObservations, name: CompletionName): Completion {
  const fill = FILL[name];
  const seen = plan.requests.map((_, index) => app.requests.get(index + 1));
  const known = seen.map((request) => request?.up ?? null);
  const up = known.map((value) => value ?? name === "hi");
  const turns = plan.requests.map(({ checks }, index) =>
    checks.map((_, check) => creditOf(seen[index]?.checks.get(check), fill)),
  );
  const observed = app.sweep;
  const sweep =
    observed === null
      ? null
      : plan.own.map(({ request, check }) => creditOf(observed.get(request + 1)?.get(check), fill));
  return {
    up,
    isUpAtEnd: name === "primary" ? (known.findLast((value) => value !== null) ?? false) : (up.at(-1) ?? false),
    responded: seen.map((request) => request?.responded ?? null),
    hasGaps: known.includes(null) || hasUnseen(sweep) || turns.some(hasUnseen),
    turns,
    sweep,
  };
}
