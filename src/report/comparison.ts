import type { PairComparison } from "../scoring/compare-sides.ts";
import type { TrialSummary } from "../scoring/statistics/trials.ts";

/** Something in which two sides differ that should be the same. */
export interface Mismatch {
  readonly kind:
    | "suite"
    | "dataset"
    | "definition"
    | "judge"
    | "limits"
    | "isolation"
    | "observation"
    | "sandbox"
    | "unknown"
    | "apps";
  /** Whether numbers with this difference must not be compared unless somebody insists. */
  readonly isFatal: boolean;
  readonly text: string;
}

/** One side as it is shown. */
export interface ComparedSide {
  /** A, B, C and so on. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Null for sources that do not say. */
  readonly agent: string | null;
  /** Whether every run of the side is complete; without that the side has no headline. */
  readonly complete: boolean;
  /** Repeats that are there. */
  readonly repeats: number;
  /** Trials of an app, one a repeat; a trial passes when the app survives all requests. */
  readonly trials: TrialSummary;
}

/** Two or more sides compared; the document of `evoweb compare --json`. */
export interface Comparison {
  readonly definition: "v1";
  readonly sides: readonly ComparedSide[];
  readonly mismatches: readonly Mismatch[];
  /** Whether mismatches that forbid a comparison were allowed. */
  readonly isForced: boolean;
  readonly method: {
    readonly interval: "paired percentile bootstrap over apps";
    readonly level: number;
    readonly test: "paired permutation of sides over apps, two-sided";
    readonly adjustment: "Holm over the headline metrics of all pairs";
    readonly seed: number;
  };
  readonly pairs: readonly (PairComparison & {
    /** False when a side is incomplete or a mismatch was allowed: no number of the pair is a headline then. */
    readonly isHeadline: boolean;
  })[];
}
