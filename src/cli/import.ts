import { Command } from "@commander-js/extra-typings";
import { evowebVersion, IMPORT_LAYOUTS, importRun, type ImportReport } from "../index.ts";
import { oneOf } from "./flags.ts";
import { printable } from "./printable.ts";

/** `evoweb import`: results of other layouts as a run folder. */
export const importCommand = new Command("import")
  .description("Make a run folder from results in another layout, so that they can be scored and compared.")
  .argument("<layout>", `one of: ${IMPORT_LAYOUTS.join(", ")}`, oneOf(...IMPORT_LAYOUTS))
  .argument("<source>", "folder of results; a file for verdicts and csv")
  .requiredOption("--rows <file>", "rows of the data set, or the rows.jsonl of a run")
  .requiredOption("--out <dir>", "run folder to make")
  .option("--pattern <regex>", "webvoyager-sequence: which folder is which check, by named groups")
  .option("--assume-responded", "write that every agent answered, where the source does not say; the run is marked")
  .option("--no-screenshots", "do not read screenshots for their hashes")
  .option("--agent <name>", "name of the agent, when it is known")
  .option("--judge <name>", "name of the judge, when it is known")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Nothing stops at a file that is missing or damaged: its check is MISSING, and the problem is named here and in import.json.
A pattern sees paths below the source. Its groups: check (from 0), request (from 1), and sampleIndex (from 1), index (from 0)
or id.

Examples:
  $ evoweb import webvoyager extracted --rows test.jsonl --out runs/published
  $ evoweb import webvoyager-sequence out --rows rows.jsonl --out runs/r --pattern '(?<id>\\d{6})/r(?<request>\\d+)/c(?<check>\\d+)$'
  $ evoweb import csv verdicts.csv --rows rows.jsonl --out runs/r`,
  )
  .action(async (layout, source, { screenshots, json, ...options }) => {
    const evoweb = evowebVersion();
    const time = new Date().toISOString();
    const report = await importRun({ ...options, layout, source, withScreenshots: screenshots, evoweb, time });
    console.log(json === true ? JSON.stringify(report) : printable(reportText(report)));
  });

function reportText({ out, apps, checks, problems }: ImportReport): string {
  const { total, byKind, listed } = problems;
  const kinds = Object.entries(byKind).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${out}: ${apps} apps, ${checks} checks; score it with evoweb score ${out}`,
    ...(total === 0 ? [] : [`${total} problems (${kinds.join(", ")}):`]),
    ...listed.map(({ file, line, text }) => `  ${file}${line === null ? "" : ` line ${line}`}: ${text}`),
    ...(total > listed.length ? [`  and ${total - listed.length} more`] : []),
  ].join("\n");
}
