import { resolve } from "node:path";
import { z } from "zod";
import { EvowebError } from "../errors.ts";
import type { Mask } from "../trace/mask.ts";
import { readRunPlan } from "../trace/run-folder.ts";
import { RunOptions, FREE_ON_RESUME } from "./options.ts";

/** What was asked for on the command line or through the API. */
export interface GivenOptions {
  readonly given: Partial<RunOptions>;
  readonly out?: string;
  readonly resume?: string;
  /** Applied to what was stored, so it has to be applied before comparing; default: nothing is masked. */
  readonly mask?: Mask;
}

/**
 * The options in force: what was given over the defaults, or on resume over what the run was started with. Throws
 * `EvowebError("usage")` for a value that is out of range, and for a resume that would change what the run finds.
 */
export function resolveOptions({ given, out, resume, mask = (text) => text }: GivenOptions): RunOptions {
  if (resume === undefined) return parse(given);
  if (out !== undefined && resolve(out) !== resolve(resume)) {
    throw new EvowebError(
      "usage",
      `--out ${out} and --resume ${resume} name two folders; a resumed run stays where it is`,
    );
  }
  const { run } = readRunPlan(resume);
  if (run.imported !== undefined) {
    throw new EvowebError(
      "usage",
      `${resume} was imported, so no agent's work is there to go on with. Start a new run.`,
    );
  }
  const stored = parse(run.options);
  const free: ReadonlySet<string> = new Set(FREE_ON_RESUME);
  const changed = Object.entries(given).filter(
    ([name, value]) =>
      !free.has(name) && mask(JSON.stringify(value)) !== JSON.stringify(stored[name as keyof RunOptions]),
  );
  if (changed.length > 0) {
    const list = changed.map(([name, value]) => {
      return `${name} is ${JSON.stringify(stored[name as keyof RunOptions])} in the run and ${mask(JSON.stringify(value))} now`;
    });
    throw new EvowebError(
      "usage",
      `a resumed run keeps what affects its results: ${list.join("; ")}. Start a new run instead`,
    );
  }
  return { ...stored, ...given };
}

function parse(options: unknown): RunOptions {
  const parsed = RunOptions.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new EvowebError("usage", `these options cannot be used:\n${z.prettifyError(parsed.error)}`);
}
