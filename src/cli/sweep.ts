import { Command, InvalidArgumentError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { EvowebError, renderSweep, sweep, type RunOptions, type SweepProduct } from "../index.ts";
import { hasColors } from "./colors.ts";
import { oneOf, wholeNumber } from "./flags.ts";
import { readEnvironment } from "./read-environment.ts";
import { givenOptions, RUN_FLAGS } from "./run-flags.ts";
import { createProgress } from "./run-progress.ts";
import { signalExit } from "./signals.ts";

const EXIT_INCOMPLETE = 3;
const OF_PRODUCT: ReadonlySet<string> = new Set(["agent", "model", "split", "repeat"] satisfies (keyof RunOptions)[]);
const SHARED = (Object.keys(RUN_FLAGS) as (keyof RunOptions)[]).filter((name) => !OF_PRODUCT.has(name));

function list(value: string): readonly string[] {
  const parts = value.split(",").map((part) => part.trim());
  if (parts.some((part) => part === ""))
    throw new InvalidArgumentError('Give names with commas between them, such as "test,fr".');
  return parts;
}

/** `evoweb sweep`: agents, models, splits and repeats as one job that survives. */
export function sweepCommand(): CommandUnknownOpts {
  const command = new Command("sweep")
    .description(
      "Run several agents, models, splits and repeats as one job that can be gone on with; ends with one table.",
    )
    .option("--agents <list>", 'agents such as "pi,builtin" (default: replay)', list)
    .option("--models <list>", "models; each agent that takes one runs with each", list)
    .option(
      "--splits <list>",
      'splits such as "test,fr,de"; differences are to test, else to the first (default: test)',
      list,
    )
    .option("--repeats <n>", "how often each is run (default: 1)", wholeNumber(1, 100))
    .option("--out <dir>", "folder of the sweep; one that holds the same sweep is gone on with")
    .option("--resume <dir>", "go on with a sweep; its product need not be said again")
    .option(
      "--metric <name>",
      "what the cells show; --json has all",
      oneOf("grade", "survival", "apr", "checks"),
      "grade",
    )
    .option("--retry-missing", "judge again what has no verdict in runs that are there", false)
    .option("--json", "print one JSON document (the table) on standard output and nothing else", false)
    .addHelpText(
      "after",
      `
Examples:
  evoweb sweep --agents replay,replay:forgetful --splits test,fr,he --out runs/languages
  evoweb sweep --agents pi,builtin --models small,large --splits test,zh --repeats 3 --out runs/s1
  evoweb sweep --resume runs/s1`,
    );
  for (const name of SHARED) command.addOption(RUN_FLAGS[name]);
  return command.action(async (flags: Flags) => {
    process.exitCode = await execute(flags);
  });
}

interface Flags {
  readonly [attribute: string]: unknown;
  readonly agents?: readonly string[];
  readonly models?: readonly string[];
  readonly splits?: readonly string[];
  readonly repeats?: number;
  readonly out?: string;
  readonly resume?: string;
  readonly metric: string;
  readonly json: boolean;
  readonly retryMissing: boolean;
}

function productOf({ agents, models, splits, repeats, resume }: Flags): SweepProduct | undefined {
  if (resume !== undefined && [agents, models, splits, repeats].every((value) => value === undefined)) return undefined;
  return {
    agents: [...(agents ?? ["replay"])],
    models: [...(models ?? [])],
    splits: [...(splits ?? ["test"])],
    repeats: repeats ?? 1,
  };
}

async function execute(flags: Flags): Promise<number> {
  const dir = flags.resume ?? flags.out;
  if (dir === undefined) throw new EvowebError("usage", "a sweep needs a folder to come back to: name it with --out");
  if (flags.resume !== undefined && flags.out !== undefined) {
    throw new EvowebError("usage", "--out and --resume name two folders; a resumed sweep stays where it is");
  }
  const product = productOf(flags);
  const signals = signalExit({ canPause: true });
  const progress = createProgress(process.stderr);
  const { listen, say } = progress;
  try {
    const given = givenOptions(flags, SHARED);
    const environment = readEnvironment();
    const { signal, pause } = signals;
    const table = await sweep({
      given,
      dir,
      environment,
      listen,
      say,
      signal,
      pause,
      retryMissing: flags.retryMissing,
      ...(product === undefined ? {} : { product }),
    });
    progress.close();
    const useColor = hasColors(process.stdout);
    process.stdout.write(flags.json ? `${JSON.stringify(table)}\n` : renderSweep(table, flags.metric, { useColor }));
    return table.complete ? 0 : EXIT_INCOMPLETE;
  } catch (error) {
    progress.close();
    if (signals.exitCode === null) throw error;
    process.stderr.write(`evoweb: stopped; what was judged is kept. Go on with --resume ${dir}\n`);
    return signals.exitCode;
  } finally {
    signals.dispose();
  }
}
