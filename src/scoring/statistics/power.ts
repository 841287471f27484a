import { SEED, seededDraw } from "./random.ts";
import type { Draw } from "./random.ts";

/** An experiment that could be made. */
export interface Design {
  readonly apps: number;
  /** Runs of each app on each side. */
  readonly repeats: number;
}

/** What is known of a metric from runs that were made: of each app, its value in each repeat. */
export type RepeatedValues = readonly (readonly number[])[];

/** How much results scatter when nothing has changed. */
export interface Noise {
  /** Deviations to draw from. */
  readonly deviations: readonly number[];
  /** `within`: from repeats of the same app. `between`: without repeats, all differences between apps are taken for noise. */
  readonly source: "within" | "between";
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Deviations from the mean, as large as they would be from the true one. */
function deviationsOf(values: readonly number[]): number[] {
  const mean = meanOf(values);
  const scale = Math.sqrt(values.length / (values.length - 1));
  return values.map((value) => (value - mean) * scale);
}

/** The noise in values that were seen; null when there are neither repeats nor two apps. */
export function noiseOf(values: RepeatedValues): Noise | null {
  const repeated = values.filter((app) => app.length > 1);
  if (repeated.length > 0) return { deviations: repeated.flatMap(deviationsOf), source: "within" };
  const single = values.flat();
  return single.length < 2 ? null : { deviations: deviationsOf(single), source: "between" };
}

const SIMULATIONS = 400;
const EXCHANGES = 199;
const LEVEL = 0.05;

/** Apps beyond which nobody is told to go. */
const MOST_APPS = 1000;
/** With fewer apps no exchange of sides can give a p-value below 0.05. */
const FEWEST_TESTABLE = 6;

function drawMean(draw: Draw, { deviations }: Noise, repeats: number): number {
  let sum = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) sum += deviations[draw(deviations.length)] ?? 0;
  return sum / repeats;
}

/** The paired permutation test of `evoweb compare`, with fewer exchanges. */
function isSeen(draw: Draw, gains: Float64Array): boolean {
  let observed = 0;
  for (const gain of gains) observed += gain;
  let asLarge = 1;
  for (let exchange = 0; exchange < EXCHANGES; exchange += 1) {
    let sum = 0;
    for (const gain of gains) sum += draw(2) === 0 ? gain : -gain;
    if (Math.abs(sum) >= Math.abs(observed) - 1e-9) asLarge += 1;
  }
  return asLarge / (EXCHANGES + 1) <= LEVEL;
}

/** The share of simulated experiments in which a true difference is seen at p of at most 0.05. */
export function simulatePower(noise: Noise, { apps, repeats }: Design, difference: number): number {
  const draw = seededDraw(SEED);
  const gains = new Float64Array(apps);
  let seen = 0;
  for (let simulation = 0; simulation < SIMULATIONS; simulation += 1) {
    for (let app = 0; app < apps; app += 1) {
      gains[app] = difference + drawMean(draw, noise, repeats) - drawMean(draw, noise, repeats);
    }
    if (isSeen(draw, gains)) seen += 1;
  }
  return seen / SIMULATIONS;
}

/** What is asked of an experiment. */
export interface Aim {
  /** In the metric's own unit. */
  readonly difference: number;
  /** Wanted chance to see it, 0 to 1. */
  readonly power: number;
}

/** The fewest apps with which a difference is seen often enough; null when that takes more than `MOST_APPS`. */
export function appsNeeded(noise: Noise, repeats: number, { difference, power }: Aim): number | null {
  const isEnough = (apps: number): boolean => simulatePower(noise, { apps, repeats }, difference) >= power;
  let [low, high] = [FEWEST_TESTABLE - 1, FEWEST_TESTABLE];
  while (!isEnough(high)) {
    if (high === MOST_APPS) return null;
    [low, high] = [high, Math.min(MOST_APPS, 2 * high)];
  }
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}
