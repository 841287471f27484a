import { Command } from "@commander-js/extra-typings";
import { EvowebError } from "../errors.ts";
import { judgeErrorLines, renderScore, scoreDocuments, scorePaths, withJudgeError } from "../index.ts";
import { hasColors } from "./colors.ts";

const EXIT_INCOMPLETE = 3;

/** `evoweb score`: offline, from what is on the disk. */
export const scoreCommand = new Command("score")
  .description("Score run folders, traces or flat verdicts; offline, the same input gives the same bytes.")
  .argument("<path...>", "run folders, trace.jsonl files or flat verdict files")
  .option("--rows <file>", "rows of the data set, for files that have none beside them")
  .option("--calibration <path>", "say which measured error of the judge is here (a file or a folder of calibrations)")
  .option("--sensitivity", "with --calibration: Grade and Survival under that error, as a range (default: off)")
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
  .action(async (paths, { rows, json, calibration, sensitivity = false }) => {
    if (sensitivity && calibration === undefined) {
      throw new EvowebError("usage", "--sensitivity needs the judge's measured error; name it with --calibration PATH");
    }
    process.exitCode = await printScores(paths, { rows, json: json === true, calibration, sensitivity });
  });

/** How scores are printed. */
interface PrintOptions {
  readonly rows?: string | undefined;
  readonly json: boolean;
  readonly calibration?: string | undefined;
  readonly sensitivity?: boolean;
}

/** Prints the scores of what is on the disk; gives the exit code. */
export async function printScores(
  paths: readonly string[],
  { rows, json, calibration, sensitivity = false }: PrintOptions,
): Promise<number> {
  const read = await scorePaths(paths, rows);
  const sources = read.map((source) => withJudgeError(source, { calibration, sensitivity }));
  const useColor = hasColors(process.stdout);
  const render = (source: (typeof sources)[number]): string =>
    renderScore(source, { useColor }) +
    judgeErrorLines(source, calibration)
      .map((line) => `${line}\n`)
      .join("");
  const text = json ? `${JSON.stringify(scoreDocuments(sources))}\n` : sources.map(render).join("\n\n");
  process.stdout.write(text);
  return sources.some(({ score }) => !score.run.complete) ? EXIT_INCOMPLETE : 0;
}
