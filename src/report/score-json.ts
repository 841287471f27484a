import type { Score } from "../scoring/score.ts";
import type { Effort } from "../trace/effort.ts";
import type { RunIntegrity } from "../trace/integrity.ts";
import type { ReaderNote } from "./reader-notes.ts";
import type { JudgeError, ScoredSource } from "./score-source.ts";

/** The document `evoweb score --json` prints for one source; `definition`, `apps` and `run` are the contract of docs/formats.md. */
export interface ScoreDocument extends Score {
  /** What the run took; null where the source does not say. */
  readonly effort: Effort | null;
  /** Absent for traces of versions that did not look, so that they score to the same bytes for ever. */
  readonly integrity?: RunIntegrity;
  /** Only where a model judged: the measured error that belongs to the judge, null when none is known. */
  readonly calibration?: JudgeError["calibration"];
  /** Only with `--sensitivity`; null when no error is known. */
  readonly sensitivity?: NonNullable<JudgeError["sensitivity"]> | null;
  readonly startTimes: readonly string[];
  readonly notes: readonly ReaderNote[];
}

/** Several sources in one document. */
export interface ScoreDocuments {
  readonly definition: Score["definition"];
  readonly scores: readonly (ScoreDocument & { readonly path: string })[];
}

/** One source as a document; the same source gives the same bytes. */
export function scoreDocument({
  score,
  effort,
  integrity,
  judgeError,
  startTimes,
  notes,
}: ScoredSource): ScoreDocument {
  const looked = integrity === undefined || integrity === null ? {} : { integrity };
  return { ...score, effort, ...looked, ...judgeError, startTimes, notes };
}

/** One source as its document, several as a list of them under their paths. */
export function scoreDocuments(sources: readonly ScoredSource[]): ScoreDocument | ScoreDocuments {
  const [first] = sources;
  if (first !== undefined && sources.length === 1) return scoreDocument(first);
  return {
    definition: "v1",
    scores: sources.map((source) => ({ path: source.path, ...scoreDocument(source) })),
  };
}
