// A run folder is complete: what was planned and what happened can be read from it with nothing else at hand.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseRow } from "../dataset/parse-row.ts";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError, messageOf } from "../errors.ts";
import { RunEvent } from "./event.ts";
import type { RunFact } from "./event.ts";
import { effortOf } from "./effort.ts";
import type { Effort } from "./effort.ts";
import { integrityOf } from "./integrity.ts";
import type { RunIntegrity } from "./integrity.ts";
import { readFileText, readFileTextIfAny, readJsonLines } from "./jsonl.ts";
import type { LineNotes } from "./jsonl.ts";
import { observeApp } from "./observe-app.ts";
import type { AppObservations } from "./observations.ts";
import { parseTrace } from "./reader.ts";
import type { TraceNotes } from "./reader.ts";
import { RUN_VERSION, RunJson } from "./run-json.ts";
import { openTraceWriter } from "./writer.ts";

/** One app of a run as read from its trace; `readTrace` gives the events themselves. */
interface AppReading {
  readonly sampleIndex: number;
  /** The app's folder. */
  readonly dir: string;
  /** What counts of its events. */
  readonly observations: AppObservations;
  readonly effort: Effort;
  /** Null when nobody looked. */
  readonly integrity: RunIntegrity | null;
  /** What the reader met. */
  readonly notes: TraceNotes;
}

/** What a run was planned to be. */
export interface RunPlan {
  readonly dir: string;
  readonly run: RunJson;
  /** Every planned row, in the order of `rows.jsonl`. */
  readonly rows: readonly SampledRow[];
}

/** A run folder as read. */
export interface RunFolder extends RunPlan {
  /** By sample index; an app that has no trace yet is absent. */
  readonly apps: ReadonlyMap<number, AppReading>;
  /** Starts and ends of the processes that ran, in order. */
  readonly runEvents: readonly RunEvent[];
  /** What was wrong with `events.jsonl`. */
  readonly runNotes: LineNotes;
}

/** Name of an app's folder below the run folder, such as "app-0001". */
export function appDirName(sampleIndex: number): string {
  return `app-${String(sampleIndex).padStart(4, "0")}`;
}

function writeOnce(path: string, text: string): void {
  const fd = openSync(path, "wx");
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function refuseOccupied(dir: string): void {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  if (names.includes("run.json")) {
    throw new EvowebError(
      "usage",
      `${dir} already holds a run. Go on with it by --resume ${dir}, or name another --out.`,
    );
  }
  if (names.length > 0) {
    throw new EvowebError("usage", `${dir} is not empty and holds no run. Name an empty or new folder with --out.`);
  }
}

/**
 * Makes a run folder with `run.json` and `rows.jsonl`. Throws `usage` when the folder holds something, `locked` when another
 * process makes it at this moment, `io` when it cannot be written.
 */
export function createRunFolder(dir: string, run: RunJson, rows: readonly SampledRow[]): void {
  refuseOccupied(dir);
  const lines = rows.map(({ sampleIndex, row }) => `${JSON.stringify({ sampleIndex, row: row.raw })}\n`);
  try {
    mkdirSync(dir, { recursive: true });
    // The rows claim the folder, and run.json comes last: a folder that has it is whole.
    writeOnce(join(dir, "rows.jsonl"), lines.join(""));
    const unfinished = join(dir, "run.json.tmp");
    writeOnce(unfinished, `${JSON.stringify(RunJson.parse(run), null, 2)}\n`);
    renameSync(unfinished, join(dir, "run.json"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      throw new EvowebError("locked", `another process has just taken ${dir}. Name another --out.`, { cause: error });
    }
    if (error instanceof z.ZodError) throw error;
    throw new EvowebError("io", `cannot make the run folder ${dir}: ${messageOf(error)}`, { cause: error });
  }
}

/** Appends to a run's `events.jsonl`. */
export interface RunEventWriter extends Disposable {
  /** Appends one event, with version and time, and forces it onto the disk. Throws `io`. */
  append(fact: RunFact): void;
}

/** Opens a run's `events.jsonl` for appending; throws `io`. */
export function openRunEvents(dir: string, mask?: (line: string) => string): RunEventWriter {
  const writer = openTraceWriter(join(dir, "events.jsonl"), mask);
  return {
    append(fact) {
      writer.append({ v: 1, time: new Date().toISOString(), ...fact });
      writer.sync();
    },
    [Symbol.dispose]: () => writer[Symbol.dispose](),
  };
}

function readRunJson(dir: string): RunJson {
  const path = join(dir, "run.json");
  if (!existsSync(path)) {
    throw new EvowebError("trace", `${dir} is no run folder: it has no run.json. Name a folder that evoweb run made.`);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(readFileText(path).text);
  } catch (error) {
    throw new EvowebError("trace", `${path} is no JSON: ${messageOf(error)}`, { cause: error });
  }
  const result = RunJson.safeParse(raw);
  if (result.success) return result.data;
  const version = z.looseObject({ schemaVersion: z.number() }).safeParse(raw).data?.schemaVersion;
  if (version !== undefined && version !== RUN_VERSION) {
    const advice = version > RUN_VERSION ? "Update evoweb." : "Use the evoweb that wrote it.";
    throw new EvowebError(
      "trace",
      `${path} is version ${version}; this evoweb reads version ${RUN_VERSION}. ${advice}`,
    );
  }
  throw new EvowebError("trace", `${path} is not as evoweb writes it: ${z.prettifyError(result.error)}`);
}

/** Rows files that were read already, by their text; runs of one data set have the same. */
export type KnownRows = Map<string, readonly SampledRow[]>;

/**
 * Reads the `rows.jsonl` of a run folder. Throws `trace` for a file that was cut or is no plan of a run, `dataset` for a row that
 * cannot be used, `io` when it cannot be read.
 */
export function readSampledRows(path: string, knownRows: KnownRows = new Map()): readonly SampledRow[] {
  const file = readFileText(path);
  const known = knownRows.get(file.text);
  if (known !== undefined) return known;
  const rows: SampledRow[] = [];
  const notes = readJsonLines(file, ({ value, line }) => {
    const { sampleIndex, row } = value;
    if (!Number.isSafeInteger(sampleIndex))
      throw new EvowebError("trace", `${path} line ${line}: it has no sampleIndex.`);
    rows.push({ sampleIndex: sampleIndex as number, row: parseRow(row) });
  });
  const bad = notes.badLines[0]?.line ?? notes.tornLine;
  // Without its rows a run has no plan, and a guessed plan would be a guessed score.
  if (bad !== null)
    throw new EvowebError("trace", `${path} line ${bad}: not a whole row. The file was cut or changed.`);
  knownRows.set(file.text, rows);
  return rows;
}

/** Reads what a run was planned to be; throws `trace` or `io`, naming the file. */
export function readRunPlan(dir: string, knownRows?: KnownRows): RunPlan {
  return { dir, run: readRunJson(dir), rows: readSampledRows(join(dir, "rows.jsonl"), knownRows) };
}

/** Reads one app of a run; absent when it has no trace yet. Throws as `readTrace`. */
function readApp(dir: string, sampled: SampledRow): AppReading | undefined {
  const { sampleIndex } = sampled;
  const path = join(dir, "trace.jsonl");
  const file = readFileTextIfAny(path);
  if (file === undefined) return undefined;
  const { events, notes } = parseTrace(file, path, sampleIndex);
  const counted = observeApp(sampled, events);
  // The events are let go here: a run of hundreds of apps is read without holding more than one app's at a time.
  return {
    sampleIndex,
    dir,
    observations: counted.observations,
    effort: effortOf(events, counted),
    integrity: integrityOf(events),
    notes,
  };
}

function readRunEvents(dir: string): Pick<RunFolder, "runEvents" | "runNotes"> {
  const path = join(dir, "events.jsonl");
  const runEvents: RunEvent[] = [];
  const file = readFileTextIfAny(path) ?? { text: "", isDamaged: false };
  const runNotes = readJsonLines(file, ({ value }) => {
    const result = RunEvent.safeParse(value);
    // Scores do not rest on these; kinds of a later version are passed over.
    if (result.success) runEvents.push(result.data);
  });
  return { runEvents, runNotes };
}

/** Reads a whole run folder; throws `trace` or `io`, naming file and line. Pass one `knownRows` when reading many. */
export function readRunFolder(dir: string, knownRows?: KnownRows): RunFolder {
  const plan = readRunPlan(dir, knownRows);
  const apps = new Map<number, AppReading>();
  for (const sampled of plan.rows) {
    const app = readApp(join(dir, appDirName(sampled.sampleIndex)), sampled);
    if (app !== undefined) apps.set(sampled.sampleIndex, app);
  }
  return { ...plan, apps, ...readRunEvents(dir) };
}
