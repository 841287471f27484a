import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command } from "@commander-js/extra-typings";
import { EvowebError, messageOf } from "../errors.ts";
import { EXPORT_FORMATS, exportRun, readRunFolder, writeWebgenLayout } from "../index.ts";
import { oneOf } from "./flags.ts";

const FORMATS = [...EXPORT_FORMATS, "webgen-layout"] as const;

/** `evoweb export`: a run in the formats of others. */
export const exportCommand = new Command("export")
  .description("Write a run in another format: to a file, or to standard output.")
  .argument("<run>", "run folder")
  .requiredOption("--format <name>", `one of: ${FORMATS.join(", ")}`, oneOf(...FORMATS))
  .option("--out <path>", "file to write, a folder for webgen-layout; it must not exist yet")
  .addHelpText(
    "after",
    `
Examples:
  $ evoweb export runs/r1 --format verdicts --out verdicts.jsonl
  $ evoweb export runs/r1 --format csv > verdicts.csv`,
  )
  .action(async (dir, { format, out }) => {
    if (format === "webgen-layout") {
      if (out === undefined) throw new EvowebError("usage", "webgen-layout is a folder: name a new one with --out.");
      writeWebgenLayout(readRunFolder(dir), out);
      return;
    }
    const pieces = Readable.from(exportRun(readRunFolder(dir), format));
    if (out === undefined) {
      await pipeline(pieces, process.stdout, { end: false });
      return;
    }
    try {
      await pipeline(pieces, createWriteStream(out, { flags: "wx" }));
    } catch (error) {
      throw new EvowebError("io", `cannot write ${out}: ${messageOf(error)}`, { cause: error });
    }
  });
