// One resumable job over a product of agents, models, splits and repeats: a run folder for each, then one table.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openDataset } from "../dataset/open-dataset.ts";
import { EvowebError } from "../errors.ts";
import type { SweepTable } from "../report/sweep-table.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import { FREE_ON_RESUME, RunOptions } from "../runner/options.ts";
import { resolveOptions } from "../runner/resolve-options.ts";
import { sourceOf } from "../runner/row-source.ts";
import { lockRunFolder } from "../runner/run-lock.ts";
import { run } from "../runner/run.ts";
import type { TraceEvent } from "../trace/event.ts";
import { createMask } from "../trace/mask.ts";
import { hasMissing, isRunFinished } from "./run-standing.ts";
import { claimSweep, isSweep, readSweep, sweepCells } from "./sweep-plan.ts";
import type { SweepCell, SweepProduct } from "./sweep-plan.ts";
import { tableOfSweep } from "./sweep-table.ts";

/** What a sweep is asked for. */
export interface SweepRequest {
  /** Absent: what the sweep in `dir` was started with. */
  readonly product?: SweepProduct;
  /** Options that all runs share; agent, model, split and repeat come from the product. */
  readonly given: Partial<RunOptions>;
  /** Folder of the sweep. One that holds the same sweep is gone on with. */
  readonly dir: string;
  readonly environment: RunEnvironment;
  readonly listen: (event: TraceEvent) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Stops the sweep once the checks under way have ended. */
  readonly pause?: AbortSignal;
  /** Judge again what has no verdict in runs that are there. */
  readonly retryMissing?: boolean;
}

/**
 * Runs what is not finished of a sweep, in a stable order, and resolves with its table. Throws `usage` when the folder holds
 * another sweep, `locked` when another process writes it, else as `run`.
 */
export async function sweep(request: SweepRequest): Promise<SweepTable> {
  const { dir, say, signal } = request;
  const stored = isSweep(dir) ? readSweep(dir) : null;
  const product = request.product ?? stored?.product;
  if (product === undefined)
    throw new EvowebError("usage", `${dir} holds no sweep to go on with; name --agents and --splits`);
  const shared = { ...(stored?.options as Partial<RunOptions> | undefined), ...request.given };
  const cells = sweepCells(product);
  const asked = { ...request, given: shared };
  requireEmptyOrSweep(dir);
  mkdirSync(dir, { recursive: true });
  using _ = lockRunFolder(dir);
  const mask = createMask(request.environment.secrets);
  // The defaults of today must be those of tomorrow's resume.
  const options = JSON.parse(mask(JSON.stringify(resolveOptions({ given: shared, mask })))) as Record<string, unknown>;
  const contentHashes = await hashSplits(asked, product.splits);
  claimSweep(dir, { schemaVersion: 1, product, options, contentHashes }, FREE_ON_RESUME);
  for (const [index, cell] of cells.entries()) {
    signal.throwIfAborted();
    request.pause?.throwIfAborted();
    const where = `${index + 1}/${cells.length} ${cell.name}`;
    const isDone = isRunFinished(join(dir, cell.name));
    if (isDone && !(request.retryMissing === true && hasMissing(join(dir, cell.name)))) {
      say(`${where}: finished before`);
      continue;
    }
    say(`${where}: ${existsSync(join(dir, cell.name, "run.json")) ? "going on" : "starting"}`);
    await runCell(asked, cell, product.repeats);
  }
  return tableOfSweep(dir, product);
}

function requireEmptyOrSweep(dir: string): void {
  if (!existsSync(dir) || isSweep(dir)) return;
  const others = readdirSync(dir).filter((name) => !/^(?:lock\.|sweep\.json\.tmp)/u.test(name));
  if (others.length === 0) return;
  throw new EvowebError("usage", `${dir} is not empty and holds no sweep. Name an empty or new folder with --out`);
}

async function hashSplits({ given, environment, signal }: SweepRequest, splits: readonly string[]) {
  const hashes: Record<string, string> = {};
  for (const split of splits) {
    const options = RunOptions.parse({ ...given, split });
    const { contentHash } = await openDataset(options.dataset, sourceOf(options, null, { environment, signal }));
    hashes[split] = contentHash;
  }
  return hashes;
}

async function runCell(request: SweepRequest, cell: SweepCell, repeats: number): Promise<void> {
  const { product: _, dir: __, ...shared } = request;
  const out = join(request.dir, cell.name);
  const given = {
    ...request.given,
    agent: cell.agent,
    split: cell.split,
    repeat: { index: cell.repeat, of: repeats },
    ...(cell.model === null ? {} : { model: cell.model }),
  };
  const isBegun = existsSync(join(out, "run.json"));
  // A process that ended before run.json was there has run nothing; the sweep's lock says that nobody is about to.
  if (!isBegun) for (const name of ["rows.jsonl", "run.json.tmp"]) rmSync(join(out, name), { force: true });
  await run({ ...shared, given, ...(isBegun ? { resume: out } : { out }) });
}
