#!/usr/bin/env node
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { EvowebError, messageOf } from "../errors.ts";
import { evowebVersion } from "../index.ts";
import { blameCommand } from "./blame.ts";
import { calibrateCommand } from "./calibrate.ts";
import { checkoutCommand } from "./checkout.ts";
import { cleanCommand } from "./clean.ts";
import { compareCommand } from "./compare.ts";
import { datasetCommand } from "./dataset.ts";
import { doctorCommand } from "./doctor.ts";
import { judgeCommand } from "./judge.ts";
import { planCommand } from "./plan.ts";
import { reportCommand } from "./report.ts";
import { runCommand } from "./run.ts";
import { estimateCommand } from "./estimate.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { imagesCommand } from "./images.ts";
import { scoreCommand } from "./score.ts";
import { statusCommand } from "./status.ts";
import { sweepCommand } from "./sweep.ts";

const EXIT_FAULT = 1;
const EXIT_USAGE = 2;

// One line a command; each lives in a file of its own.
const commands: readonly CommandUnknownOpts[] = [
  runCommand(),
  sweepCommand(),
  statusCommand,
  estimateCommand(),
  judgeCommand(),
  calibrateCommand(),
  scoreCommand,
  compareCommand,
  reportCommand,
  blameCommand(),
  planCommand,
  datasetCommand,
  checkoutCommand(),
  doctorCommand(),
  importCommand,
  exportCommand,
  imagesCommand,
  cleanCommand,
];

async function main(): Promise<number> {
  const program = new Command("evoweb")
    .description("Measures how long a coding agent keeps one web app working while the requests keep coming.")
    .version(evowebVersion().version, "--version", "print the version")
    .exitOverride()
    .showSuggestionAfterError();
  for (const command of commands) program.addCommand(command.exitOverride());
  try {
    await program.parseAsync(process.argv);
    return typeof process.exitCode === "number" ? process.exitCode : 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has already printed its own message; help and version end with code 0.
  if (error instanceof Error && "exitCode" in error && error.name === "CommanderError") {
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  process.stderr.write(`evoweb: ${messageOf(error)}\n`);
  if (error instanceof EvowebError) return error.code === "usage" ? EXIT_USAGE : EXIT_FAULT;
  // A disk that is full or read-only, met where nothing more could be said about it.
  if (error instanceof Error && "syscall" in error) return EXIT_FAULT;
  process.stderr.write("This is a fault of evoweb itself; EVOWEB_DEBUG=1 shows where.\n");
  if (process.env["EVOWEB_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return EXIT_FAULT;
}

// Who reads only the first lines (`| head`) or closes the terminal ends the pipe, not the run: its results are in files.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

process.exitCode = await main();
