// A run folder in the formats of others. Texts come in pieces, so that a large run is never one string.
import type { RunFolder } from "../trace/run-folder.ts";
import { evalResults } from "./eval-results.ts";
import { flatLines } from "./flat-lines.ts";
import { junitXml } from "./junit.ts";
import { latexScores, markdownScores } from "./score-tables.ts";
import { webgenTable } from "./webgen-table.ts";
import { csvLines } from "./write-csv.ts";

/** Formats that a run can be exported to as one text. */
export const EXPORT_FORMATS = [
  "verdicts",
  "csv",
  "webgen-table",
  "junit",
  "markdown",
  "latex",
  "eval-results",
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

function* verdictLines(folder: RunFolder): Generator<string> {
  for (const line of flatLines(folder)) yield `${JSON.stringify(line)}\n`;
}

const WRITERS: Readonly<Record<ExportFormat, (folder: RunFolder) => Iterable<string>>> = {
  verdicts: verdictLines,
  csv: (folder) => csvLines(flatLines(folder)),
  "webgen-table": webgenTable,
  junit: junitXml,
  markdown: markdownScores,
  latex: latexScores,
  "eval-results": evalResults,
};

/** A run in another format, piece by piece. */
export function exportRun(folder: RunFolder, format: ExportFormat): Iterable<string> {
  return WRITERS[format](folder);
}
