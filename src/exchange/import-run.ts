// Results of other layouts become ordinary run folders: each source is read once, then written app by app.
import { existsSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { contentHashOf } from "../dataset/content-hash.ts";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import { readPlannedRows } from "../trace/planned-rows.ts";
import { createRunFolder, openRunEvents } from "../trace/run-folder.ts";
import { RUN_VERSION } from "../trace/run-json.ts";
import type { RunJson } from "../trace/run-json.ts";
import { compilePattern, SEQUENCE_PATTERN, WEBVOYAGER_PATTERN } from "./find-check-folders.ts";
import { openFlat } from "./flat-source.ts";
import type { ImportSource } from "./import-source.ts";
import { ProblemList } from "./problems.ts";
import type { ImportProblems } from "./problems.ts";
import { readCsv } from "./read-csv.ts";
import { readFlatLines } from "./read-flat-lines.ts";
import { openWebvoyager } from "./webvoyager-source.ts";
import { writeImportedApp } from "./write-app.ts";

/** Layouts that can be imported. */
export const IMPORT_LAYOUTS = ["webvoyager", "webvoyager-sequence", "verdicts", "csv"] as const;
type ImportLayout = (typeof IMPORT_LAYOUTS)[number];

/** What to import, and what is known about it beside its own files. */
export interface ImportRequest {
  readonly layout: ImportLayout;
  /** Folder of results; a file for `verdicts` and `csv`. */
  readonly source: string;
  /** Rows of the data set, or the `rows.jsonl` of a run. */
  readonly rows: string;
  /** Run folder to make. */
  readonly out: string;
  /** Which folder is which check, for `webvoyager-sequence`; see `compilePattern`. */
  readonly pattern?: string | undefined;
  /** Writes that every agent answered where the source does not say. */
  readonly assumeResponded?: boolean | undefined;
  /** False to leave screenshots unread; their hashes are then not in the traces. */
  readonly withScreenshots?: boolean | undefined;
  /** Name of the agent; unknown when absent. */
  readonly agent?: string | undefined;
  /** Name of the judge; unknown when absent. */
  readonly judge?: string | undefined;
  /** The evoweb that imports. */
  readonly evoweb: { readonly version: string; readonly commit: string | null };
  /** ISO 8601; the time of all imported events. */
  readonly time: string;
}

/** What came of an import. */
export interface ImportReport {
  readonly out: string;
  readonly layout: ImportLayout;
  /** Planned apps. */
  readonly apps: number;
  /** Observations that were written. */
  readonly checks: number;
  readonly problems: ImportProblems;
}

function requireSource({ layout, source }: ImportRequest): void {
  const isFolderLayout = layout === "webvoyager" || layout === "webvoyager-sequence";
  const info = existsSync(source) ? statSync(source) : null;
  if (info === null) throw new EvowebError("usage", `there is no ${source}. Name what is to be imported.`);
  if (info.isDirectory() === isFolderLayout) return;
  throw new EvowebError(
    "usage",
    `${source} is ${isFolderLayout ? "no folder" : "a folder"}; ${layout} needs the other.`,
  );
}

function openSource(
  request: ImportRequest,
  rows: readonly SampledRow[],
  problems: ProblemList,
): ImportSource | Promise<ImportSource> {
  const { layout, source, assumeResponded = false, withScreenshots = true, pattern = SEQUENCE_PATTERN } = request;
  const search = { source, rows, problems, assumeResponded };
  if (layout === "verdicts") return openFlat(search, readFlatLines(source, problems));
  if (layout === "csv") return openFlat(search, readCsv(source, problems));
  const folders = compilePattern(layout === "webvoyager" ? WEBVOYAGER_PATTERN : pattern);
  return openWebvoyager({ ...search, withScreenshots, pattern: folders });
}

function describeImport(request: ImportRequest, { planned, isolation, observation }: ImportSource): RunJson {
  const { layout, source, evoweb, time, agent = null, judge = null, assumeResponded = false } = request;
  return {
    schemaVersion: RUN_VERSION,
    runId: `import-${time.replaceAll(/[^\dTZ]/gu, "")}`,
    suite: { name: "evoweb", version: "1" },
    repeat: { index: 1, of: 1 },
    isolation,
    observation,
    options: {},
    imported: {
      layout,
      source,
      judge,
      assumeResponded,
      ...(request.pattern === undefined ? {} : { pattern: request.pattern }),
    },
    provenance: {
      evoweb,
      dataset: {
        name: basename(request.rows),
        revision: null,
        contentHash: contentHashOf(planned.map(({ row }) => row)),
      },
      agent: { name: agent },
      judge: null,
      browser: null,
      engine: null,
      imageDigest: null,
      host: null,
    },
  };
}

function countChecks(app: ReturnType<ImportSource["read"]>): number {
  const groups = [...[...app.requests.values()].map(({ checks }) => checks), ...(app.sweep?.values() ?? [])];
  return groups.reduce((sum, checks) => sum + checks.size, 0);
}

/**
 * Imports results into a new run folder. What is missing or damaged becomes MISSING and a problem, which the report and `import.json`
 * of the folder name. Throws `usage`, `dataset`, `trace` or `io`.
 */
export async function importRun(request: ImportRequest): Promise<ImportReport> {
  requireSource(request);
  const problems = new ProblemList();
  const rows = await readPlannedRows(request.rows);
  using source = await openSource(request, rows, problems);
  const { out, layout, time } = request;
  createRunFolder(out, describeImport(request, source), source.planned);
  using events = openRunEvents(out);
  events.append({ type: "run_started", options: {} });
  let checks = 0;
  for (const sampled of source.planned) {
    const observations = source.read(sampled);
    checks += countChecks(observations);
    writeImportedApp(out, { sampled, observations }, time);
  }
  const report = { out, layout, apps: source.planned.length, checks, problems: problems.summary() };
  writeFileSync(join(out, "import.json"), `${JSON.stringify(report, null, 2)}\n`);
  events.append({ type: "run_finished" });
  return report;
}
