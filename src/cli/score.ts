import { Command } from "@commander-js/extra-typings";
import { calibrationLine, renderScore, scoreDocuments, scorePaths } from "../index.ts";
import { hasColors } from "./colors.ts";

const EXIT_INCOMPLETE = 3;

/** `evoweb score`: offline, from what is on the disk. */
export const scoreCommand = new Command("score")
  .description("Score run folders, traces or flat verdicts; offline, the same input gives the same bytes.")
  .argument("<path...>", "run folders, trace.jsonl files or flat verdict files")
  .option("--rows <file>", "rows of the data set, for files that have none beside them")
  .option("--calibration <path>", "say which measured error of the judge is here (a file or a folder of calibrations)")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb score runs/r1
  $ evoweb score runs/r1 runs/r2 --json
  $ evoweb score verdicts.jsonl --rows rows.jsonl

Exit codes: 0 scored; 1 something cannot be read; 2 wrong usage; 3 scored, but a run is incomplete and has no headline.`,
  )
  .action(async (paths, { rows, json, calibration }) => {
    process.exitCode = await printScores(paths, { rows, json: json === true });
    if (calibration !== undefined && json !== true) await printCalibrations(paths, { rows, calibration });
  });

/** Prints the scores of what is on the disk; gives the exit code. */
export async function printScores(
  paths: readonly string[],
  { rows, json }: { rows?: string | undefined; json: boolean },
): Promise<number> {
  const sources = await scorePaths(paths, rows);
  const useColor = hasColors(process.stdout);
  const text = json
    ? `${JSON.stringify(scoreDocuments(sources))}\n`
    : sources.map((source) => renderScore(source, { useColor })).join("\n\n");
  process.stdout.write(text);
  return sources.some(({ score }) => !score.run.complete) ? EXIT_INCOMPLETE : 0;
}

async function printCalibrations(
  paths: readonly string[],
  { rows, calibration }: { rows?: string | undefined; calibration: string },
): Promise<void> {
  for (const { run } of await scorePaths(paths, rows)) {
    if (run !== null) process.stdout.write(`${calibrationLine(run, calibration)}\n`);
  }
}
