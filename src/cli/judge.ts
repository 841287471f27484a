import { Command, InvalidArgumentError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { ONLY, rejudge, scoreDocuments, scorePaths, type Rejudged } from "../index.ts";
import { oneOf, wholeNumber } from "./flags.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, JUDGING_OPTIONS, RUN_FLAGS } from "./run-flags.ts";
import { createProgress } from "./run-progress.ts";
import { printScores } from "./score.ts";
import { signalExit } from "./signals.ts";

const EXAMPLES = `
Examples:
  evoweb judge runs/r1 --judge oracle --out runs/r1-oracle     all checks of all snapshots again
  evoweb judge runs/r1 --only missing --out runs/r1-mended     only what has no verdict; the rest is carried over
  evoweb judge runs/r1 --apps 1 --requests 3-5 --repeats 3     noise: three passes, the last one counts
  evoweb judge runs/r1 --from evidence                         rule again on the stored evidence, without a browser
  evoweb judge runs/r1 --sweep each --sweep-budget 10          own checks on later snapshots, those at risk first
  evoweb judge --resume runs/r1-oracle                         go on with a job that was interrupted`;

/** `evoweb judge`: an existing run judged again. */
export function judgeCommand(): CommandUnknownOpts {
  const command = new Command("judge")
    .description("Judge an existing run again from its snapshots, without the agent, into a new run folder.")
    .argument("[run]", "run folder to judge again")
    .option("--out <dir>", "folder of the new run (default: one of its own below runs/)")
    .option("--resume <dir>", "go on with a job that was interrupted")
    .option("--apps <list>", 'sample indexes such as "1,3-5" (default: all)')
    .option("--requests <list>", 'request numbers such as "2,4-6" (default: all)')
    .option("--only <verdicts>", `only checks whose verdict was one of ${ONLY.join(", ")}`, verdictList)
    .option("--from <what>", "snapshots, or evidence: rule again on what was stored", oneOf("snapshots", "evidence"))
    .option("--repeats <n>", "passes over the same checks (default: 1)", wholeNumber(1, 100))
    .option(
      "--sweep <which>",
      "final or each: own checks on the last or on each snapshot; other verdicts are carried over",
      oneOf("final", "each"),
    )
    .option("--sweep-budget <n>", "most checks of a snapshot in --sweep each (default: all)", wholeNumber(0))
    .option("--json", "print one JSON document and nothing else", false)
    .addHelpText("after", EXAMPLES);
  for (const name of JUDGING_OPTIONS) command.addOption(RUN_FLAGS[name]);
  return command.action(async (run: string | undefined, flags: Flags) => {
    process.exitCode = await execute(run, flags);
  });
}

interface Flags {
  readonly [attribute: string]: unknown;
  readonly out?: string;
  readonly resume?: string;
  readonly json: boolean;
}

function verdictList(value: string): readonly (typeof ONLY)[number][] {
  return value.split(",").map((word) => {
    const known = ONLY.find((candidate) => candidate === word.trim().toLowerCase());
    if (known === undefined) throw new InvalidArgumentError(`Give one or more of: ${ONLY.join(", ")}.`);
    return known;
  });
}

const OF_JOB = ["apps", "requests", "only", "from", "repeats", "sweep", "sweepBudget"] as const;

async function execute(run: string | undefined, flags: Flags): Promise<number> {
  const { out, resume, json } = flags;
  const signals = signalExit();
  const progress = createProgress(process.stderr);
  try {
    const rejudged = await rejudge({
      ...(run === undefined ? {} : { run }),
      ...(out === undefined ? {} : { out }),
      ...(resume === undefined ? {} : { resume }),
      given: givenOptions(flags, JUDGING_OPTIONS),
      again: Object.fromEntries(OF_JOB.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]]))),
      environment: readEnvironment(),
      listen: progress.listen,
      say: progress.say,
      signal: signals.signal,
    });
    progress.close();
    return await print(rejudged, json);
  } catch (error) {
    progress.close();
    if (signals.exitCode === null) throw error;
    process.stderr.write("evoweb: stopped; what was judged is kept. Go on with --resume and the new run's folder.\n");
    return signals.exitCode;
  } finally {
    signals.dispose();
  }
}

async function print(rejudged: Rejudged, json: boolean): Promise<number> {
  const { dir } = rejudged;
  if (json) {
    const sources = await scorePaths([dir]);
    process.stdout.write(`${JSON.stringify({ ...rejudged, score: scoreDocuments(sources) })}\n`);
    return sources.some(({ score }) => !score.run.complete) ? 3 : 0;
  }
  process.stdout.write(`${describeChanges(rejudged)}\n`);
  return printScores([dir], { json: false });
}

function describeChanges({ dir, changes, swept }: Rejudged): string {
  const { judged, carried, changed, flips } = changes;
  const kinds = changed.map(({ from, to }) => `${from} to ${to}`);
  const counts = [...new Set(kinds)]
    .map((kind) => `${kinds.filter((other) => other === kind).length} ${kind}`)
    .join(", ");
  const lines = [
    `${dir}: ${judged} checks judged again, ${carried} carried over; ${changed.length} changed${counts === "" ? "" : ` (${counts})`}`,
  ];
  if (flips.rate !== null) {
    const percent = (100 * flips.rate).toFixed(1);
    lines.push(
      `Flip rate ${percent}% (pairs of passes that disagree; ${flips.flipped} of ${flips.checks} checks were not the same every time)`,
    );
  }
  for (const { sampleIndex, snapshot, touched, chosen, leftOut, reachableLeftOut } of swept) {
    const touches = touched.length === 0 ? "" : `; it touched files of ${touched.join(", ")}`;
    const left =
      leftOut.length === 0
        ? ""
        : `; ${leftOut.length} left out, ${reachableLeftOut} of them within reach of the change`;
    lines.push(`Sweep: app ${sampleIndex}, snapshot ${snapshot}: ${chosen.length} checks${left}${touches}`);
  }
  return lines.join("\n");
}
