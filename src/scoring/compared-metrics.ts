import type { AppMetrics, AppScore } from "./score-app.ts";
import type { Ratio } from "./turns.ts";

/** What is made of missing verdicts: they count as NO, or what they leave open is left out. */
export const POLICIES = ["countedAsNo", "excluded"] as const;
export type Policy = (typeof POLICIES)[number];

/** What one app gives to a metric; null where missing verdicts leave it open or nothing could be measured. */
type Reading = (app: AppScore) => Ratio | null;

/** A metric that sides are compared by. */
export interface ComparedMetric {
  /** Its field in the score JSON. */
  readonly name: string;
  readonly label: string;
  /** A mean over apps in its own unit, or a ratio pooled over apps as a share of 1. */
  readonly kind: "mean" | "ratio";
  /** The metrics that p-values are adjusted over; the others are there to explain them. */
  readonly isHeadline: boolean;
  readonly countedAsNo: Reading;
  readonly excluded: Reading;
}

type MeanName = "grade" | "survival" | "gradeDag" | "built" | "cpt";

const asMean = (value: number | null): Ratio | null => (value === null ? null : [value, 1]);

/** A mean is open for an app as soon as its missing verdicts can change it. */
function mean(name: MeanName, label: string, isHeadline = false): ComparedMetric {
  return {
    name,
    label,
    kind: "mean",
    isHeadline,
    countedAsNo: ({ lo }) => asMean(lo[name]),
    excluded: ({ primary, lo, hi }) => (lo[name] === hi[name] ? asMean(primary[name]) : null),
  };
}

interface Readings {
  readonly countedAsNo: Reading;
  readonly excluded: Reading;
}

function ratio([name, label]: readonly [string, string], readings: Readings, isHeadline = false): ComparedMetric {
  return { name, label, kind: "ratio", isHeadline, ...readings };
}

const passed = (flags: AppMetrics["strict"]): Ratio => [
  flags.filter((flag) => flag === 1).length,
  flags.filter((flag) => flag !== null).length,
];

const isSame = (a: Ratio, b: Ratio): boolean => a[0] === b[0] && a[1] === b[1];

/** Everything sides are compared by, the headline first. */
export const COMPARED_METRICS: readonly ComparedMetric[] = [
  mean("grade", "Grade", true),
  mean("survival", "Survival", true),
  ratio(["apr", "APR"], { countedAsNo: ({ lo }) => lo.apr, excluded: ({ side }) => side.aprObserved }, true),
  ratio(["br", "br"], { countedAsNo: ({ lo }) => lo.br, excluded: ({ primary }) => primary.br }, true),
  ratio(["aprUsable", "APR usable"], {
    countedAsNo: ({ lo }) => lo.aprUsable,
    excluded: ({ primary, lo, hi }) => (isSame(lo.aprUsable, hi.aprUsable) ? primary.aprUsable : null),
  }),
  ratio(["tp", "TP"], {
    countedAsNo: ({ lo }) => passed(lo.strict),
    excluded: ({ lo, hi }) => passed(lo.strict.filter((flag, index) => flag === hi.strict[index])),
  }),
  ratio(["checks", "Checks"], {
    countedAsNo: ({ side: { counts } }) => [counts.yes, counts.planned],
    excluded: ({ side: { counts } }) => [counts.yes, counts.planned - counts.missing],
  }),
  mean("gradeDag", "gradeDag"),
  mean("built", "built"),
  mean("cpt", "CPT"),
];
