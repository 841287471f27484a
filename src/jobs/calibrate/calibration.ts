import { z } from "zod";
import { judgeErrors, type JudgedTruth, type JudgeErrors } from "../../scoring/judge-errors.ts";
import type { TraceEvent } from "../../trace/event.ts";

/** A check with its truth, what was said of it, and what it is counted under. */
export interface Answer extends JudgedTruth {
  readonly sampleIndex: number;
  readonly request: number;
  readonly check: number;
  readonly role: string;
  readonly archetype: string | null;
  /** Kind of mutant, "solution", or "human" for labels. */
  readonly kind: string;
  /** What was served, such as the id of a mutant. */
  readonly spec: string;
  /** Evidence of the first pass, as paths from where the calibration was made. */
  readonly evidence: readonly string[];
}

/** A judge's measured error: the document that is printed and stored. */
export interface Calibration extends JudgeErrors {
  /** Which judge, and under which circumstances. */
  readonly judge: CalibratedJudge;
  /** The same numbers per role, archetype and mutant kind. */
  readonly groups: {
    readonly role: Readonly<Record<string, JudgeErrors>>;
    readonly archetype: Readonly<Record<string, JudgeErrors>>;
    readonly mutantKind: Readonly<Record<string, JudgeErrors>>;
  };
  /** The checks it got wrong (YES against not YES) in the first pass. */
  readonly wrong: readonly Pick<
    Answer,
    "sampleIndex" | "request" | "check" | "spec" | "kind" | "truth" | "verdicts" | "evidence"
  >[];
}

/** What a calibration is about. Its hash covers prompts and model. */
export const CalibratedJudge = z.looseObject({
  name: z.string(),
  hash: z.string(),
  /** Version of the browser; null when unknown. */
  browser: z.string().nullable(),
  /** Where the truth is from: a data set's name or "labels". */
  truth: z.string(),
  /** ISO 8601, UTC. */
  time: z.string(),
  /** Checks that were decided before the judge was asked (the app did not come up, a blank page); in none of the numbers. */
  notAsked: z.int().min(0),
  /** What a reader must know of this judge; absent: nothing. */
  note: z.string().optional(),
});
export type CalibratedJudge = z.infer<typeof CalibratedJudge>;

/** Puts answers together. */
export function calibrationOf(judge: CalibratedJudge, answers: readonly Answer[]): Calibration {
  const by = (nameOf: (answer: Answer) => string): Record<string, JudgeErrors> => {
    const names = [...new Set(answers.map(nameOf))].sort();
    return Object.fromEntries(names.map((name) => [name, judgeErrors(answers.filter((one) => nameOf(one) === name))]));
  };
  return {
    judge,
    ...judgeErrors(answers),
    groups: {
      role: by(({ role }) => role),
      archetype: by(({ archetype }) => archetype ?? "none"),
      mutantKind: by(({ kind }) => kind),
    },
    wrong: answers.filter(isWrong).map(({ sampleIndex, request, check, spec, kind, truth, verdicts, evidence }) => {
      return { sampleIndex, request, check, spec, kind, truth, verdicts, evidence };
    }),
  };
}

function isWrong({ truth, verdicts: [said] }: Answer): boolean {
  return said !== "MISSING" && (truth === "YES") !== (said === "YES");
}

/** Whether the judge was asked about a check, or what was there before it decided. A verdict that was lost counts as asked. */
export function wasAsked({ verdict, cause, evidence }: Extract<TraceEvent, { type: "check_judged" }>): boolean {
  if (verdict === "MISSING") return cause !== "no_oracle";
  return cause === "judged" && evidence.some(({ path }) => path.includes("/checks/"));
}
