import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import type { ErrorRate } from "../scoring/judge-errors.ts";
import { scoreObserved } from "../scoring/score.ts";
import type { Observed, Score } from "../scoring/score.ts";
import type { Sensitivity } from "../scoring/sensitivity.ts";
import { effortOf, sumEfforts } from "../trace/effort.ts";
import type { Effort } from "../trace/effort.ts";
import { sumIntegrity } from "../trace/integrity.ts";
import type { RunIntegrity } from "../trace/integrity.ts";
import { FLAT_TYPES, parseFlatVerdicts } from "../trace/flat-verdicts.ts";
import { readFileText, readJsonLines } from "../trace/jsonl.ts";
import type { FileText } from "../trace/jsonl.ts";
import { observeApp } from "../trace/observe-app.ts";
import { parseTrace } from "../trace/reader.ts";
import { readPlannedRows } from "../trace/planned-rows.ts";
import { appDirName, readRunFolder, readRunPlan } from "../trace/run-folder.ts";
import type { KnownRows, RunFolder, RunPlan } from "../trace/run-folder.ts";
import type { RunJson } from "../trace/run-json.ts";
import { describeNotes } from "./reader-notes.ts";
import type { ReaderNote } from "./reader-notes.ts";

/** A judge's measured error, and what it does to the numbers. */
export interface JudgeError {
  /** The stored calibration that belongs to the judge; null when none is known. */
  readonly calibration: {
    readonly file: string;
    readonly checks: number;
    readonly falseYes: Pick<ErrorRate, "rate" | "low" | "high">;
    readonly falseNo: Pick<ErrorRate, "rate" | "low" | "high">;
  } | null;
  /** Absent unless asked for; null without a calibration. */
  readonly sensitivity?: Sensitivity | null;
}

/** One thing that was scored, and what came to light on the way. */
export interface ScoredSource {
  /** As named by the user. */
  readonly path: string;
  readonly kind: "run" | "trace" | "verdicts";
  /** What the run was; null for sources that do not say. */
  readonly run: RunJson | null;
  /** The rows that were planned. */
  readonly rows: readonly SampledRow[];
  readonly score: Score;
  /** What the score was made from; absent for what is no run folder. */
  readonly observed?: Observed;
  /** How often the run's judge is wrong; absent where no model judged or nobody asked. */
  readonly judgeError?: JudgeError;
  /** What the run took; null where the source does not say. */
  readonly effort: Effort | null;
  /** Whether the agents knew what they must not know; absent or null where nobody looked. */
  readonly integrity?: RunIntegrity | null;
  /** ISO 8601 times at which a process took the run up; more than one says that it was resumed. */
  readonly startTimes: readonly string[];
  readonly notes: readonly ReaderNote[];
}

const UNDECLARED = { isolation: null, observation: null } as const;

/** Scores a run folder that was read already. */
export function scoreRunFolder(folder: RunFolder): ScoredSource {
  const { dir, run, rows } = folder;
  const apps = new Map([...folder.apps].map(([sampleIndex, { observations }]) => [sampleIndex, observations] as const));
  const notes = [...folder.apps].flatMap(([sampleIndex, app]) =>
    describeNotes(`${appDirName(sampleIndex)}/trace.jsonl`, app.notes),
  );
  const observed = { rows, apps, isolation: run.isolation, observation: run.observation };
  return {
    path: dir,
    kind: "run",
    run,
    rows,
    score: scoreObserved(observed),
    observed,
    effort: sumEfforts([...folder.apps.values()].map(({ effort }) => effort)),
    integrity: sumIntegrity([...folder.apps.values()].map(({ integrity }) => integrity)),
    startTimes: folder.runEvents.flatMap((event) => (event.type === "run_started" ? [event.time] : [])),
    notes,
  };
}

/**
 * Reads and scores run folders, traces and flat verdicts files, in this order. `rowsPath` names the rows where a source has none
 * beside it. Throws `usage` when a path is none of the three or rows are needed, `trace`, `dataset` or `io` when something cannot be
 * read.
 */
export async function scorePaths(paths: readonly string[], rowsPath?: string): Promise<readonly ScoredSource[]> {
  const knownRows: KnownRows = new Map();
  const sources: ScoredSource[] = [];
  for (const path of paths) sources.push(await scorePath(path, rowsPath, knownRows));
  return sources;
}

async function scorePath(path: string, rowsPath: string | undefined, knownRows: KnownRows): Promise<ScoredSource> {
  if (!existsSync(path))
    throw new EvowebError("usage", `there is no ${path}. Name a run folder, a trace or a file of verdicts.`);
  if (statSync(path).isDirectory()) {
    if (!existsSync(join(path, "run.json"))) {
      throw new EvowebError(
        "usage",
        `${path} is no run folder: it has no run.json. Name a folder that evoweb run made.`,
      );
    }
    return scoreRunFolder(readRunFolder(path, knownRows));
  }
  const file = readFileText(path);
  return isFlat(file) ? scoreFlat({ path, file, rowsPath }) : scoreTrace({ path, file, rowsPath });
}

interface Source {
  readonly path: string;
  readonly file: FileText;
  readonly rowsPath: string | undefined;
}

// Enough for the first records of any file of ours, and little enough to look at twice.
const PEEK_CHARS = 1 << 20;

/** Whether the first record that can be read is of a flat verdicts file; a file without any is taken for one without verdicts. */
function isFlat({ text }: FileText): boolean {
  const types: unknown[] = [];
  readJsonLines({ text: text.slice(0, PEEK_CHARS), isDamaged: false }, ({ value }) => types.push(value["type"]));
  return types.length === 0 || FLAT_TYPES.includes(types[0]);
}

async function readRowsFor(path: string, rowsPath: string | undefined): Promise<readonly SampledRow[]> {
  if (rowsPath === undefined) {
    throw new EvowebError("usage", `${path} has no rows beside it. Name the data set's file with --rows FILE.`);
  }
  return readPlannedRows(rowsPath);
}

async function scoreFlat({ path, file, rowsPath }: Source): Promise<ScoredSource> {
  const all = await readRowsFor(path, rowsPath);
  const flat = parseFlatVerdicts(file, path);
  const rows = flat.planned.map((sampleIndex) => {
    const sampled = all.find((candidate) => candidate.sampleIndex === sampleIndex);
    if (sampled !== undefined) return sampled;
    throw new EvowebError(
      "trace",
      `${path} is about app ${sampleIndex}, and ${rowsPath} has no such row. Is it the right file of rows?`,
    );
  });
  const planned = new Set(flat.planned);
  const strays = [...flat.apps.keys()].filter((sampleIndex) => !planned.has(sampleIndex));
  const notes = describeNotes(path, flat.notes);
  if (strays.length > 0) {
    notes.push({
      file: path,
      kind: "unplanned",
      line: null,
      count: strays.length,
      text: `apps that were not planned are left out: ${strays.join(", ")}`,
    });
  }
  const score = scoreObserved({ rows, apps: flat.apps, isolation: flat.isolation, observation: flat.observation });
  return { path, kind: "verdicts", run: null, rows, score, effort: null, startTimes: [], notes };
}

/** The run folder a trace lies in; null when it lies elsewhere, or when other rows were asked for. */
function surroundingPlan(path: string, rowsPath: string | undefined): RunPlan | null {
  const dir = dirname(dirname(path));
  return rowsPath === undefined && existsSync(join(dir, "run.json")) ? readRunPlan(dir) : null;
}

/** The app whose folder a trace lies in; null when the folder's name says nothing. */
function appOfFolder(path: string): number | null {
  const digits = /^app-(\d+)$/.exec(basename(dirname(path)))?.[1];
  return digits === undefined ? null : Number(digits);
}

async function scoreTrace({ path, file, rowsPath }: Source): Promise<ScoredSource> {
  const plan = surroundingPlan(path, rowsPath);
  const rows = plan === null ? await readRowsFor(path, rowsPath) : plan.rows;
  const { events, notes } = parseTrace(file, path, plan === null ? null : appOfFolder(path));
  const sampleIndex = events[0]?.sampleIndex ?? appOfFolder(path);
  const sampled = rows.find((candidate) => candidate.sampleIndex === sampleIndex);
  if (sampled === undefined) {
    const whose = sampleIndex === null ? "holds no event that can be read" : `is about app ${sampleIndex}`;
    throw new EvowebError("trace", `${path} ${whose}, and the rows have no such app. Is it the right file of rows?`);
  }
  const counted = observeApp(sampled, events);
  const { isolation, observation } = plan === null ? UNDECLARED : plan.run;
  const apps = new Map([[sampled.sampleIndex, counted.observations]]);
  return {
    path,
    kind: "trace",
    run: plan === null ? null : plan.run,
    rows: [sampled],
    score: scoreObserved({ rows: [sampled], apps, isolation, observation }),
    effort: effortOf(events, counted),
    startTimes: [],
    notes: describeNotes(path, notes),
  };
}
