import type { SampledRow } from "../dataset/row.ts";
import type { AppObservations, Observation } from "../trace/observations.ts";

/** Counts of WebGen-Bench's own scoring; the classes add up to `total`. */
interface WebgenCounts {
  readonly yes: number;
  readonly partial: number;
  readonly no: number;
  /** Checks that left nothing to score; they stay in the denominator. */
  readonly startFailed: number;
  /** Planned checks. */
  readonly total: number;
  /** 100 x (YES + PARTIAL / 2) / total; null without checks. */
  readonly accuracy: number | null;
}

/** A run under the two verdict rules of the WebVoyager protocol. */
export interface WebgenScore {
  /** As published: bit for bit what the benchmark's own script gives. */
  readonly legacy: WebgenCounts;
  /** Only verdicts that the judge gave as such; the others are unjudged, not NO. */
  readonly strict: WebgenCounts & { readonly unjudged: number };
}

interface Tally {
  yes: number;
  partial: number;
  no: number;
  startFailed: number;
  unjudged: number;
}

const NAMES = { YES: "yes", PARTIAL: "partial", NO: "no" } as const;
const newTally = (): Tally => ({ yes: 0, partial: 0, no: 0, startFailed: 0, unjudged: 0 });

function countLegacy(tally: Tally, seen: Observation | undefined): void {
  const verdict = seen?.rules?.["legacy"] ?? "MISSING";
  tally[verdict === "MISSING" ? "startFailed" : NAMES[verdict]] += 1;
}

function countStrict(tally: Tally, seen: Observation | undefined): void {
  const verdict = seen?.rules?.["strict"] ?? "MISSING";
  if (verdict !== "MISSING") tally[NAMES[verdict]] += 1;
  else tally[seen?.cause === "app_down" ? "startFailed" : "unjudged"] += 1;
}

function accuracyOf({ yes, partial }: Tally, total: number): number | null {
  return total === 0 ? null : (100 * (yes + 0.5 * partial)) / total;
}

/** Counts a run's turns as WebGen-Bench does; null when no check was judged under both rules. */
export function scoreWebgen(
  rows: readonly SampledRow[],
  apps: ReadonlyMap<number, AppObservations>,
): WebgenScore | null {
  const legacy = newTally();
  const strict = newTally();
  let total = 0;
  let ruled = 0;
  for (const { sampleIndex, row } of rows) {
    for (const { number, checks } of row.requests) {
      const seen = apps.get(sampleIndex)?.requests.get(number)?.checks;
      for (const check of checks.keys()) {
        const observation = seen?.get(check);
        const rules = observation?.rules;
        if (rules?.["legacy"] !== undefined && rules["strict"] !== undefined) ruled += 1;
        total += 1;
        countLegacy(legacy, observation);
        countStrict(strict, observation);
      }
    }
  }
  if (ruled === 0) return null;
  const { unjudged: _, ...published } = legacy;
  return {
    legacy: { ...published, total, accuracy: accuracyOf(legacy, total) },
    strict: { ...strict, total, accuracy: accuracyOf(strict, total) },
  };
}
