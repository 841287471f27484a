import { Command, Option, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { calibrate, calibrateOnLabels, EvowebError, renderCalibration, type Calibration } from "../index.ts";
import { wholeNumber } from "./flags.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, JUDGING_OPTIONS, RUN_FLAGS } from "./run-flags.ts";
import { signalExit } from "./signals.ts";

const EXAMPLES = `
Examples:
  evoweb calibrate --judge oracle --apps 1 --checks 20          a sample of 20 checks, half of them known failures
  evoweb calibrate --judge always-yes --checks 20               a judge with a known answer, to check the instrument
  evoweb calibrate --judge oracle --mutants 000001-blank-page,000001-cents-dropped --requests 1
  evoweb calibrate --labels labels.jsonl --run runs/r1          the run's verdicts against people's

The result is stored as runs/calibrations/JUDGE-KEY.json, evidence beside it; docs/calibration.md says what counts as what.`;

const CONSTANT = ["always-yes", "always-no"] as const;
const OPTIONS = JUDGING_OPTIONS.filter((name) => name !== "judge");

/** `evoweb calibrate`: how often a judge is wrong, where the truth is known. */
export function calibrateCommand(): CommandUnknownOpts {
  const command = new Command("calibrate")
    .description(
      "Measure a judge's error on a data set's solution and mutants, or a run's verdicts on people's labels.",
    )
    .addOption(new Option("--judge <judge>", `${RUN_FLAGS.judge.description}, or ${CONSTANT.join(", ")}`))
    .option("--requests <list>", 'request numbers such as "1,3-5" (default: all)')
    .option("--mutants <list>", 'ids with commas, or "none" for the solution only (default: all)')
    .option("--checks <n>", "at most so many checks, drawn with a fixed seed, half of them failures", wholeNumber(1))
    .option("--repeats <n>", "passes over each check, for the flip rate (default: 1)", wholeNumber(1, 100))
    .option("--out <dir>", "folder of calibrations (default: runs/calibrations)")
    .option("--labels <file>", "people's labels (JSONL) instead of a data set's truth; needs --run")
    .option("--run <dir>", "the run that the labels are about")
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText("after", EXAMPLES);
  command.addOption(RUN_FLAGS.dataset).addOption(RUN_FLAGS.apps);
  for (const name of OPTIONS) command.addOption(RUN_FLAGS[name]);
  return command.action(async (flags: Flags) => {
    process.exitCode = await execute(flags);
  });
}

interface Flags {
  readonly [attribute: string]: unknown;
  readonly judge?: string;
  readonly requests?: string;
  readonly mutants?: string;
  readonly checks?: number;
  readonly repeats?: number;
  readonly out?: string;
  readonly labels?: string;
  readonly run?: string;
  readonly json: boolean;
}

async function execute(flags: Flags): Promise<number> {
  const { labels, run, json } = flags;
  if ((labels === undefined) !== (run === undefined)) {
    throw new EvowebError("usage", "--labels and --run belong together: labels are about the verdicts of a run");
  }
  if (labels !== undefined && run !== undefined) {
    print(calibrateOnLabels(labels, run), json);
    return 0;
  }
  const signals = signalExit();
  try {
    const { path, calibration } = await measure(flags, signals.signal);
    print(calibration, json);
    process.stderr.write(`stored in ${path}\n`);
    return 0;
  } catch (error) {
    if (signals.exitCode === null) throw error;
    return signals.exitCode;
  } finally {
    signals.dispose();
  }
}

function measure(flags: Flags, signal: AbortSignal): ReturnType<typeof calibrate> {
  const { judge, requests, mutants, checks, repeats, out } = flags;
  const constant = CONSTANT.find((name) => name === judge);
  const real = judge === undefined || constant !== undefined ? {} : { judge };
  return calibrate({
    given: { ...givenOptions(flags, [...OPTIONS, "dataset", "apps"]), ...(real as object) },
    ...(constant === undefined ? {} : { constant }),
    ...(requests === undefined ? {} : { requests }),
    ...(mutants === undefined ? {} : { mutants: mutants === "none" ? [] : mutants.split(",") }),
    ...(checks === undefined ? {} : { checks }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(out === undefined ? {} : { out }),
    environment: readEnvironment(),
    listen: () => {},
    say: (line) => process.stderr.write(`${line}\n`),
    signal,
  });
}

function print(calibration: Calibration, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(calibration)}\n` : renderCalibration(calibration));
}
