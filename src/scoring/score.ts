// From observations to numbers, definition v1 (docs/metrics.md): one app at a time, then over the run.
// Pure: no I/O, no clock, no package; what is drawn by lot comes from a fixed seed.
import type { SampledRow } from "../dataset/row.ts";
import type { AppObservations } from "../trace/observations.ts";
import { scoreApp } from "./score-app.ts";
import type { AppScore } from "./score-app.ts";
import { describeRunStatistics } from "./run-statistics.ts";
import type { RunStatistics } from "./run-statistics.ts";
import { scoreRun } from "./score-run.ts";
import type { RunScore } from "./score-run.ts";
import { scoreWebgen } from "./webgen.ts";
import type { WebgenScore } from "./webgen.ts";

/** The version of the metric definitions; a later one is added beside it, never over it. */
const DEFINITION = "v1";

/** Scores of a run: each planned app, and the run as a whole. */
export interface Score {
  readonly definition: typeof DEFINITION;
  /** In the order of the plan. */
  readonly apps: readonly AppScore[];
  readonly run: RunScore &
    RunStatistics & {
      /** Only for checks judged by the WebVoyager protocol. */
      readonly webgen?: WebgenScore;
    };
}

/** What was planned and what was seen of it. */
export interface Observed {
  /** Every planned app, also those that never ran. */
  readonly rows: readonly SampledRow[];
  /** By sample index; an app that is absent was not reached. */
  readonly apps: ReadonlyMap<number, AppObservations>;
  /** How the app was restored between checks; null when unknown. */
  readonly isolation: string | null;
  /** What the run declared; null to tell it from the observations themselves. */
  readonly observation: "locf" | "sweep" | null;
}

function observationsOf(sampleIndex: number, { apps, observation }: Observed): AppObservations {
  const app = apps.get(sampleIndex) ?? { sampleIndex, requests: new Map(), sweep: null };
  // A sweep that was meant and never ran is missing, which is not the same as none being wanted.
  if (observation === "sweep" && app.sweep === null) return { ...app, sweep: new Map() };
  return observation === "locf" && app.sweep !== null ? { ...app, sweep: null } : app;
}

/** Scores every planned app and the run; never throws, and never puts NaN, an infinity or a value out of range into a score. */
export function scoreObserved(observed: Observed): Score {
  const apps = observed.rows.map((row) => scoreApp(row, observationsOf(row.sampleIndex, observed)));
  const run = scoreRun(apps, observed.isolation);
  const statistics = describeRunStatistics(observed.rows, apps, run.tpAtN);
  const webgen = scoreWebgen(observed.rows, observed.apps);
  return {
    definition: DEFINITION,
    apps,
    run: { definition: DEFINITION, ...run, ...statistics, ...(webgen === null ? {} : { webgen }) },
  };
}
