import { EvowebError } from "../errors.ts";
import { appsNeeded, noiseOf, simulatePower } from "../scoring/statistics/power.ts";
import type { Noise, RepeatedValues } from "../scoring/statistics/power.ts";
import { SEED } from "../scoring/statistics/random.ts";
import { readSides } from "./read-sides.ts";
import type { ReadSide } from "./read-sides.ts";

/** Metrics a comparison can be planned for: means over apps. */
export const PLANNED_METRICS = ["grade", "survival"] as const;

/** What is to be seen. */
export interface PlanOptions {
  readonly metric: (typeof PLANNED_METRICS)[number];
  /** Difference between two agents, in the metric's own unit. */
  readonly difference: number;
  /** Wanted chance to see it, above 0 and below 1. */
  readonly power: number;
  readonly rowsPath?: string | undefined;
}

/** How many apps and repeats it takes; the document of `evoweb plan --json`. */
export interface ComparisonPlan {
  readonly metric: PlanOptions["metric"];
  readonly difference: number;
  readonly power: number;
  /** Apps and repeats of the run it rests on. */
  readonly basis: { readonly apps: number; readonly repeats: number; readonly complete: boolean };
  /** Standard deviation of one value of one app around its true value. */
  readonly noiseDeviation: number;
  readonly assumptions: readonly string[];
  readonly seed: number;
  readonly designs: readonly {
    readonly repeats: number;
    /** Null: more than 1,000. */
    readonly apps: number | null;
    /** Chance to see the difference with as many apps as the run has. */
    readonly powerOfBasis: number;
  }[];
}

const REPEATS = [1, 2, 3, 5] as const;

function valuesOf({ sources }: ReadSide, metric: PlanOptions["metric"]): RepeatedValues {
  const values = new Map<number, number[]>();
  for (const { sampleIndex, primary } of sources.flatMap(({ score }) => score.apps)) {
    const value = primary[metric];
    if (value === null) continue;
    const known = values.get(sampleIndex);
    if (known === undefined) values.set(sampleIndex, [value]);
    else known.push(value);
  }
  return [...values].sort(([a], [b]) => a - b).map(([, repeats]) => repeats);
}

function assumptionsOf({ source }: Noise): string[] {
  return [
    source === "within"
      ? "Noise is what repeats of the same app of this run differ by, alike for all apps and for both agents."
      : "There are no repeats: all that apps of this run differ by is taken for noise, which asks for more apps than needed, most likely.",
    "The second agent is better by the same difference on every app.",
    "Both agents run the same apps, and the paired permutation test of evoweb compare has to give p <= 0.05, two-sided, for this metric alone.",
    "400 simulated experiments a design with a fixed seed: a chance is known to about 2 points.",
  ];
}

/** Says how many apps and repeats it takes to see a difference. Throws `usage` for several settings or too little to learn from. */
export async function planComparison(paths: readonly string[], options: PlanOptions): Promise<ComparisonPlan> {
  const { metric, difference, power, rowsPath } = options;
  const [side, ...others] = await readSides(paths, rowsPath);
  if (side === undefined || others.length > 0) {
    throw new EvowebError("usage", "plan learns from one run or the repeats of one. Name runs of one setting only.");
  }
  const values = valuesOf(side, metric);
  const noise = noiseOf(values);
  if (noise === null) {
    throw new EvowebError("usage", "one app without repeats shows no noise. Name a run of more apps, or its repeats.");
  }
  const squares = noise.deviations.reduce((sum, deviation) => sum + deviation ** 2, 0);
  return {
    metric,
    difference,
    power,
    basis: {
      apps: values.length,
      repeats: side.sources.length,
      complete: side.sources.every(({ score }) => score.run.complete),
    },
    noiseDeviation: Math.sqrt(squares / noise.deviations.length),
    assumptions: assumptionsOf(noise),
    seed: SEED,
    designs: REPEATS.map((repeats) => ({
      repeats,
      apps: appsNeeded(noise, repeats, { difference, power }),
      powerOfBasis: simulatePower(noise, { apps: values.length, repeats }, difference),
    })),
  };
}
