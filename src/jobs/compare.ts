// Compares runs: reads them, takes repeats together, refuses what cannot be compared, and hands the rest to the statistics.
import { EvowebError } from "../errors.ts";
import type { ComparedSide, Comparison, Mismatch } from "../report/comparison.ts";
import { compareSides, summariseRepeats } from "../scoring/compare-sides.ts";
import { LEVEL } from "../scoring/statistics/bootstrap.ts";
import { SEED } from "../scoring/statistics/random.ts";
import { findMismatches } from "./comparability.ts";
import { readSides } from "./read-sides.ts";
import type { ReadSide } from "./read-sides.ts";

/** How to compare. */
export interface CompareOptions {
  /** Rows for files that have none beside them. */
  readonly rowsPath?: string | undefined;
  /** Compare in spite of mismatches, and say so. */
  readonly allowMismatch?: boolean;
}

function describeSide({ name, sources }: ReadSide): ComparedSide {
  const planned = Math.max(sources.length, ...sources.map(({ run }) => run?.repeat.of ?? 1));
  return {
    name,
    paths: sources.map(({ path }) => path),
    agent: sources[0]?.run?.provenance.agent.name ?? null,
    complete: sources.every(({ score }) => score.run.complete),
    repeats: sources.length,
    trials: summariseRepeats({ name, repeats: sources.map(({ score }) => score.apps) }, planned),
  };
}

function mismatchesOf(sides: readonly ReadSide[]): Mismatch[] {
  const first = sides.flatMap(({ name, sources: [source] }) => (source === undefined ? [] : [{ name, source }]));
  return first.flatMap((a, index) => first.slice(index + 1).flatMap((b) => findMismatches([a, b])));
}

function refuse(mismatches: readonly Mismatch[]): void {
  const fatal = mismatches.filter(({ isFatal }) => isFatal);
  if (fatal.length === 0) return;
  throw new EvowebError(
    "trace",
    `these runs cannot be compared:\n${fatal.map(({ text }) => `  - ${text}`).join("\n")}\nCompare runs of one setting, or insist with --allow-mismatch.`,
  );
}

/**
 * Compares run folders, folders of runs, and what else `evoweb score` reads. Throws `usage` when there is less than two sides and
 * no repeats, `trace` when sides must not be compared, else as `scorePaths`.
 */
export async function compareRuns(paths: readonly string[], options: CompareOptions = {}): Promise<Comparison> {
  const groups = await readSides(paths, options.rowsPath);
  if (groups.length < 2 && (groups[0]?.sources.length ?? 0) < 2) {
    throw new EvowebError("usage", "compare needs two runs, or the repeats of one. Name a second run folder.");
  }
  const mismatches = mismatchesOf(groups);
  if (options.allowMismatch !== true) refuse(mismatches);
  const sides = groups.map(describeSide);
  const isForced = mismatches.some(({ isFatal }) => isFatal);
  const isComplete = (name: string): boolean => sides.some((side) => side.name === name && side.complete);
  const pairs = compareSides(
    groups.map(({ name, sources: group }) => ({ name, repeats: group.map(({ score }) => score.apps) })),
  );
  return {
    definition: "v1",
    sides,
    mismatches,
    isForced,
    method: {
      interval: "paired percentile bootstrap over apps",
      level: LEVEL,
      test: "paired permutation of sides over apps, two-sided",
      adjustment: "Holm over the headline metrics of all pairs",
      seed: SEED,
    },
    pairs: pairs.map((pair) => ({ ...pair, isHeadline: !isForced && isComplete(pair.a) && isComplete(pair.b) })),
  };
}
