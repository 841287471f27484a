import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "../dataset/content-hash.ts";
import { scorePaths } from "../report/score-source.ts";
import type { ScoredSource } from "../report/score-source.ts";

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

const FREE = new Set([
  "repeat",
  "workers",
  "checksAtOnce",
  "caFile",
  "concurrency",
  "budgetUsd",
  "budgetTokens",
  "deadlineMs",
]);

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

/** A run, or the repeats of one. */
export interface ReadSide {
  /** A, B, C and so on. */
  readonly name: string;
  readonly sources: readonly ScoredSource[];
}

/** Reads and scores run folders, folders of runs and what else `evoweb score` reads; repeats are taken together. Throws as `scorePaths`. */
export async function readSides(paths: readonly string[], rowsPath?: string): Promise<ReadSide[]> {
  const sources = await scorePaths(paths.flatMap(expand), rowsPath);
  return groupSources(sources).map((group, index) => ({ name: nameOf(index), sources: group }));
}
