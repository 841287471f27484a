import { Command, Option, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { createMask, EvowebError, evowebVersion, resolveOptions, run } from "../index.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, RUN_FLAGS } from "./run-flags.ts";
import { createProgress } from "./run-progress.ts";
import { printScores } from "./score.ts";
import { signalExit } from "./signals.ts";

const EXAMPLES = `
Examples:
  evoweb run                                      replay the solution of evoweb-mini and score it
  evoweb run --agent replay:forgetful             the same with known regressions
  evoweb run --agent noop --apps 1                the floor of every score
  evoweb run --agent command --command 'my-agent' --sandbox docker
  evoweb run --resume runs/20261130-101500-replay-1a2b3c`;

/** `evoweb run`: an agent over a data set, judged, traced and scored. */
export function runCommand(): CommandUnknownOpts {
  const command = new Command("run")
    .description("Run an agent over a data set: apply its requests one by one, serve and judge the app after each.")
    .option("--out <dir>", "folder of the new run (default: one of its own below runs/)")
    .option("--resume <dir>", "go on with a run that was interrupted")
    .option("--retry-missing", "with --resume: judge again what has no verdict; what is in the trace stays", false)
    .option("--json", "print one JSON document (the scores) on standard output and nothing else", false)
    .option("--dry-run", "print the options in force as JSON and stop", false)
    .addHelpText("after", EXAMPLES);
  for (const flag of Object.values(RUN_FLAGS)) command.addOption(flag);
  // The name that --allow-host had before.
  command.addOption(new Option("--allow <host:port>").argParser(RUN_FLAGS.allow.parseArg ?? String).hideHelp());
  return command.action(async (flags: Flags) => {
    process.exitCode = await execute(flags);
  });
}

interface Flags {
  readonly [attribute: string]: unknown;
  readonly out?: string;
  readonly resume?: string;
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly retryMissing: boolean;
}

async function execute(flags: Flags): Promise<number> {
  const { out, resume, json, dryRun } = flags;
  const given = givenOptions(flags);
  const where = { ...(out === undefined ? {} : { out }), ...(resume === undefined ? {} : { resume }) };
  if (flags.retryMissing && resume === undefined) {
    throw new EvowebError("usage", "--retry-missing is about a run that is there: name it with --resume");
  }
  const environment = readEnvironment();
  const options = resolveOptions({ given, ...where, mask: createMask(environment.secrets) });
  if (dryRun) {
    process.stdout.write(`${JSON.stringify(options, undefined, 2)}\n`);
    return 0;
  }
  const signals = signalExit({ canPause: true });
  const progress = createProgress(process.stderr);
  progress.say(`evoweb ${evowebVersion().version}: agent ${options.agent} on ${options.dataset}`);
  try {
    const { dir } = await run({
      given,
      ...where,
      environment,
      listen: progress.listen,
      say: progress.say,
      signal: signals.signal,
      pause: signals.pause,
      retryMissing: flags.retryMissing,
    });
    progress.close();
    return await printScores([dir], { json });
  } catch (error) {
    progress.close();
    if (signals.exitCode !== null) {
      process.stderr.write("evoweb: stopped; what was judged is kept. Go on with --resume and the run's folder.\n");
      return signals.exitCode;
    }
    throw error;
  } finally {
    signals.dispose();
  }
}
