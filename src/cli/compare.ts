import { Command } from "@commander-js/extra-typings";
import { compareRuns, renderComparison } from "../index.ts";

const EXIT_INCOMPLETE = 3;

/** `evoweb compare`: runs against each other, offline. */
export const compareCommand = new Command("compare")
  .description(
    "Compare runs, paired on the same apps: differences with intervals and p-values; repeats are taken together.",
  )
  .argument("<path...>", "run folders, folders of run folders, or files that evoweb score reads")
  .option("--rows <file>", "rows of the data set, for files that have none beside them")
  .option("--allow-mismatch", "compare although data set, judge, limits or modes differ, and say so loudly")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb compare runs/a runs/b
  $ evoweb compare runs/three-repeats-of-a runs/three-repeats-of-b runs/c --json

Exit codes: 0 compared; 1 something cannot be read or must not be compared; 2 wrong usage; 3 compared, but a run is incomplete.`,
  )
  .action(async (paths, { rows, allowMismatch, json }) => {
    const comparison = await compareRuns(paths, { rowsPath: rows, allowMismatch: allowMismatch === true });
    const useColor = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
    process.stdout.write(
      json === true ? `${JSON.stringify(comparison)}\n` : renderComparison(comparison, { useColor }),
    );
    if (comparison.sides.some(({ complete }) => !complete)) process.exitCode = EXIT_INCOMPLETE;
  });
