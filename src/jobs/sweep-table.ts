import { existsSync } from "node:fs";
import { join } from "node:path";
import { EvowebError } from "../errors.ts";
import { scorePaths } from "../report/score-source.ts";
import type { ScoredSource } from "../report/score-source.ts";
import type { SweepColumn, SweepTable, SweepValue } from "../report/sweep-table.ts";
import { compareSides } from "../scoring/compare-sides.ts";
import type { PairComparison } from "../scoring/compare-sides.ts";
import { COMPARED_METRICS } from "../scoring/compared-metrics.ts";
import { sweepCells } from "./sweep-plan.ts";
import type { SweepCell, SweepProduct } from "./sweep-plan.ts";

const REFERENCE = "test";

/** Scores what is there of a sweep. Throws as `scorePaths`. */
export async function tableOfSweep(dir: string, product: SweepProduct): Promise<SweepTable> {
  const reference = product.splits.includes(REFERENCE) ? REFERENCE : (product.splits[0] ?? REFERENCE);
  const cells = sweepCells(product);
  const scored = new Map<string, ScoredSource>();
  for (const { name } of cells) {
    const [source] = existsSync(join(dir, name, "run.json")) ? await scorePaths([join(dir, name)]) : [];
    if (source !== undefined) scored.set(name, source);
  }
  const rows = cells.filter(({ split, repeat }) => split === product.splits[0] && repeat === 1);
  const table = rows.map(({ agent, model }) => {
    const own = cells.filter((cell) => cell.agent === agent && cell.model === model);
    const columns = product.splits.map((split) => columnOf(own, { split, reference, scored }));
    return { agent, model, columns };
  });
  const complete = table.every(({ columns }) => columns.every((column) => column.complete));
  return { definition: "v1", reference, repeats: product.repeats, complete, rows: table };
}

interface Asked {
  readonly split: string;
  readonly reference: string;
  readonly scored: ReadonlyMap<string, ScoredSource>;
}

function columnOf(cells: readonly SweepCell[], { split, reference, scored }: Asked): SweepColumn {
  const sourcesOf = (which: string): ScoredSource[] =>
    cells.filter((cell) => cell.split === which).flatMap(({ name }) => scored.get(name) ?? []);
  const planned = cells.filter((cell) => cell.split === split).length;
  const [own, referred] = [sourcesOf(split), sourcesOf(reference)];
  const complete = own.length === planned && own.every(({ score }) => score.run.complete);
  if (own.length === 0) return { split, repeats: 0, complete, values: [] };
  requireSameApps(own, referred);
  // A side alone is paired with itself, which gives its values.
  const base = referred.length === 0 ? own : referred;
  const [pair] = compareSides([
    { name: "A", repeats: base.map(({ score }) => score.apps) },
    { name: "B", repeats: own.map(({ score }) => score.apps) },
  ]);
  const [alone] = compareSides(["A", "B"].map((name) => ({ name, repeats: own.map(({ score }) => score.apps) })));
  const isCompared = split !== reference && referred.length > 0;
  const values = COMPARED_METRICS.map(({ name }): SweepValue => {
    const found = valueIn(pair, name);
    const toReference =
      isCompared && found !== undefined
        ? { apps: found.apps, difference: found.difference, interval: found.interval }
        : null;
    return { metric: name, value: valueIn(alone, name)?.b ?? null, toReference };
  });
  return { split, repeats: own.length, complete, values };
}

function valueIn(pair: PairComparison | undefined, metric: string) {
  return pair?.metrics.find(({ metric: name }) => name === metric)?.countedAsNo;
}

/** Translations have the ids of what they translate; anything else with the same number must not be paired with it. */
function requireSameApps(own: readonly ScoredSource[], referred: readonly ScoredSource[]): void {
  const ids = new Map(
    referred.flatMap(({ rows }) => rows.map(({ sampleIndex, row }) => [sampleIndex, row.id] as const)),
  );
  for (const { sampleIndex, row } of own.flatMap(({ rows }) => rows)) {
    const id = ids.get(sampleIndex);
    if (id === undefined || id === row.id) continue;
    throw new EvowebError(
      "dataset",
      `app ${sampleIndex} is ${row.id} in one split and ${id} in another; they are no translations`,
    );
  }
}
