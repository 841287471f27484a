import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { examine, type DoctorFinding } from "../index.ts";
import { oneOf } from "./flags.ts";
import { readEnvironment } from "./read-environment.ts";
import { colorsFor } from "./colors.ts";

const pc = colorsFor(process.stdout);

const MARKS = { ok: pc.green("ok     "), limited: pc.yellow("limited"), missing: pc.red("missing") };

/** `evoweb doctor`: what this machine can run, and how to mend what it cannot. */
export function doctorCommand(): CommandUnknownOpts {
  return new Command("doctor")
    .description("Say what this machine can run, and how to mend what it cannot.")
    .option("--fix", "install a browser when none is found", false)
    .option("--only <what>", "look at one thing only: browser", oneOf("browser"))
    .option("--quiet", "print only what is missing", false)
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText("after", "\nExample:\n  evoweb doctor --fix")
    .action(async (flags: Flags) => {
      const { only, fix } = flags;
      const say = (line: string): boolean => process.stderr.write(`evoweb: ${line}\n`);
      const environment = readEnvironment();
      const findings = await examine({ environment, fix, say, ...(only === undefined ? {} : { only }) });
      print(findings, flags);
      process.exitCode = findings.some(({ status }) => status === "missing") ? 1 : 0;
    });
}

interface Flags {
  readonly fix: boolean;
  readonly only?: "browser";
  readonly quiet: boolean;
  readonly json: boolean;
}

function print(findings: readonly DoctorFinding[], { json, quiet }: Flags): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ findings }, undefined, 2)}\n`);
    return;
  }
  for (const { name, status, found, fix } of findings) {
    if (quiet && status !== "missing") continue;
    process.stdout.write(`${MARKS[status]}  ${name.padEnd(8)} ${found}\n`);
    if (fix !== undefined) process.stdout.write(`${" ".repeat(18)}${pc.dim(fix)}\n`);
  }
}
