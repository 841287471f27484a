// Compares runs: reads them, takes repeats together, refuses what cannot be compared, and hands the rest to the statistics.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../dataset/content-hash.ts";
import { EvowebError } from "../errors.ts";
import type { ComparedSide, Comparison, Mismatch } from "../report/comparison.ts";
import { scorePaths } from "../report/score-source.ts";
import type { ScoredSource } from "../report/score-source.ts";
import { compareSides, summariseRepeats } from "../scoring/compare-sides.ts";
import { LEVEL } from "../scoring/statistics/bootstrap.ts";
import { SEED } from "../scoring/statistics/random.ts";
import { findMismatches } from "./comparability.ts";

/** How to compare. */
export interface CompareOptions {
  /** Rows for files that have none beside them. */
  readonly rowsPath?: string | undefined;
  /** Compare in spite of mismatches, and say so. */
  readonly allowMismatch?: boolean;
}

/** A folder of runs stands for the runs in it, by name. */
function expand(path: string): string[] {
  if (!existsSync(path) || existsSync(join(path, "run.json"))) return [path];
  let names: string[];
  try {
    names = readdirSync(path).sort();
  } catch {
    return [path];
  }
  const runs = names.map((name) => join(path, name)).filter((child) => existsSync(join(child, "run.json")));
  return runs.length === 0 ? [path] : runs;
}

const FREE = new Set(["repeat", "workers", "checksAtOnce", "caFile"]);

/** Equal for two runs that differ in nothing but their place among repeats. */
function keyOf({ path, run }: ScoredSource): string {
  if (run === null || run.repeat.of === 1) return path;
  const options = Object.fromEntries(Object.entries(run.options).filter(([name]) => !FREE.has(name)));
  const { agent, judge, dataset } = run.provenance;
  return canonicalJson({ of: run.repeat.of, suite: run.suite, options, agent, judge, rows: dataset.contentHash });
}

/** Takes the repeats of a run together; the same repeat twice is another side. */
function groupSources(sources: readonly ScoredSource[]): ScoredSource[][] {
  const groups = new Map<string, ScoredSource[][]>();
  for (const source of sources) {
    const known = groups.get(keyOf(source)) ?? [];
    groups.set(keyOf(source), known);
    const index = source.run?.repeat.index;
    const free = known.find((group) => group.every(({ run }) => run?.repeat.index !== index));
    if (free === undefined) known.push([source]);
    else free.push(source);
  }
  return [...groups.values()].flat();
}

const nameOf = (index: number): string => (index < 26 ? String.fromCodePoint(65 + index) : `S${index + 1}`);

interface Grouped {
  readonly name: string;
  readonly sources: readonly ScoredSource[];
}

function describeSide({ name, sources }: Grouped): ComparedSide {
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

function mismatchesOf(sides: readonly Grouped[]): Mismatch[] {
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
  const sources = await scorePaths(paths.flatMap(expand), options.rowsPath);
  const groups = groupSources(sources).map((group, index) => ({ name: nameOf(index), sources: group }));
  if (groups.length < 2 && sources.length < 2) {
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
