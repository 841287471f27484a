import { Command, InvalidArgumentError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { blame, type Blamed } from "../index.ts";
import { wholeNumber } from "./flags.ts";
import { printable } from "./printable.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, JUDGING_OPTIONS, RUN_FLAGS } from "./run-flags.ts";
import { signalExit } from "./signals.ts";

const EXAMPLES = `
Examples:
  evoweb blame runs/r1 --app 2 --check 3.1            check 1 (counted from 0) of request 3
  evoweb blame runs/r1 --app 2 --check 3.1 --json

What was seen on snapshots is kept in runs/r1/blame; evoweb report takes it in.`;

/** `evoweb blame`: which request broke a check. */
export function blameCommand(): CommandUnknownOpts {
  const command = new Command("blame")
    .description(
      "Find the request that broke a check, by judging it on snapshots between its last YES and what came next.",
    )
    .argument("<run>", "run folder")
    .requiredOption("--app <n>", "sample index of the app", wholeNumber(1))
    .requiredOption("--check <r.c>", "request and check, checks counted from 0, as the report names them", checkName)
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText("after", EXAMPLES);
  for (const name of JUDGING_OPTIONS) command.addOption(RUN_FLAGS[name]);
  return command.action(async (run: string, flags: Flags) => {
    const signals = signalExit();
    try {
      const { app: sampleIndex, check, json } = flags;
      const given = givenOptions(flags, JUDGING_OPTIONS);
      const environment = readEnvironment();
      const say = (line: string): void => void process.stderr.write(`${line}\n`);
      const blamed = await blame({ run, sampleIndex, ...check, given, environment, say, signal: signals.signal });
      process.stdout.write(json ? `${JSON.stringify(blamed)}\n` : textOf(blamed));
    } catch (error) {
      if (signals.exitCode === null) throw error;
      process.exitCode = signals.exitCode;
    } finally {
      signals.dispose();
    }
  });
}

interface Flags {
  readonly [attribute: string]: unknown;
  readonly app: number;
  readonly check: { readonly request: number; readonly check: number };
  readonly json: boolean;
}

function checkName(value: string): Flags["check"] {
  const [, request, check] = /^(\d+)\.(\d+)$/u.exec(value) ?? [];
  if (request === undefined || check === undefined) {
    throw new InvalidArgumentError('Give request and check, such as "4.1".');
  }
  return { request: Number(request), check: Number(check) };
}

function verdictLine({ check, status, suspects, verdict }: Blamed): string {
  const [first, last] = suspects ?? [0, 0];
  const said = {
    sound: "was never seen broken",
    from_start: `was never YES: ${verdict} from request ${last} on`,
    regression: `was broken by request ${last} (${verdict})`,
    undecided: `was broken by one of requests ${first} to ${last} (${verdict}); nothing between could be judged`,
  };
  return `check ${check} ${said[status]}`;
}

function textOf(blamed: Blamed): string {
  const { ground, brokenParents, seen, diff, before, after } = blamed;
  const inherited = `inherited: builds on request ${brokenParents.join(", ")}, with broken checks by then`;
  const lines = [
    `app ${blamed.sampleIndex}: ${verdictLine(blamed)}`,
    ...(ground === null ? [] : [`ground: ${ground === "root" ? "root" : inherited}`]),
    `seen: ${seen.map(({ snapshot, verdict }) => `${verdict} after ${snapshot}`).join(", ")}`,
    ...before.map((path) => `before: ${path}`),
    ...after.map((path) => `after: ${path}`),
    ...(diff === null ? [] : ["", ...diff.files.map(({ path, patch }) => (patch === "" ? path : patch.trimEnd()))]),
    ...(diff?.isCut === true ? ["(the diff goes on)"] : []),
  ];
  return `${lines.map((line) => line.split("\n").map(printable).join("\n")).join("\n")}\n`;
}
