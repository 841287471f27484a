import { Command } from "@commander-js/extra-typings";
import { writeReport } from "../index.ts";

/** `evoweb report`: pages about runs, for a browser. */
export const reportCommand = new Command("report")
  .description("Write a static report of one or more runs: a folder that opens from the disk and from any web server.")
  .argument("<run...>", "run folders; with two or more the first page compares them")
  .requiredOption("--out <dir>", "folder for the report; an earlier report in it is replaced")
  .option("--json", "print one JSON document and nothing else")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb report runs/r1 --out report
  $ evoweb report runs/a runs/b --out report

Exit codes: 0 written; 1 something cannot be read or written; 2 wrong usage.`,
  )
  .action(async (runs, { out, json }) => {
    const page = await writeReport({ runs, out });
    process.stdout.write(json === true ? `${JSON.stringify({ page })}\n` : `${page}\n`);
  });
