import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseRow } from "../../src/dataset/parse-row.ts";
import type { SampledRow } from "../../src/dataset/row.ts";
import { scoreObserved } from "../../src/scoring/score.ts";
import type { Score } from "../../src/scoring/score.ts";
import { parseFlatVerdicts } from "../../src/trace/flat-verdicts.ts";
import { readFileText } from "../../src/trace/jsonl.ts";

const vectors = new URL("../fixtures/vectors/", import.meta.url).pathname;
const rows: SampledRow[] = readFileSync(`${vectors}rows.jsonl`, "utf8")
  .trimEnd()
  .split("\n")
  .map((line, index) => ({ sampleIndex: index + 1, row: parseRow(JSON.parse(line)) }));
const { apps } = parseFlatVerdicts(readFileText(`${vectors}verdicts.jsonl`), "verdicts.jsonl");
const scoreRows = (chosen: readonly SampledRow[]): Score["run"] =>
  scoreObserved({ rows: chosen, apps, isolation: null, observation: null }).run;

describe("statistics of the vectors", () => {
  const run = scoreRows(rows);

  it("the app that infra stopped after request 4 is lost there, and is no failure", () => {
    const { estimator, points } = run.survivalCurve;
    expect(estimator).toBe("Kaplan-Meier");
    // C and F fail at 1, B and G at 4, E is lost at 5, D fails at 10; A and H survive.
    expect(points.map(({ atRisk, failed, lost }) => [atRisk, failed, lost])).toEqual([
      [8, 2, 0],
      ...[2, 3].map(() => [6, 0, 0]),
      [6, 2, 0],
      [3, 0, 1],
      ...[6, 7, 8, 9].map(() => [3, 0, 0]),
      [3, 1, 0],
    ]);
    expect(points.at(-1)?.share).toBeCloseTo((6 / 8) * (4 / 6) * (2 / 3), 12);
  });

  it("an interval holds the value it belongs to", () => {
    const { intervals, grade, survival, apr, br } = run;
    const held: (readonly [number | null, { low: number; high: number } | null])[] = [
      [grade, intervals.grade],
      [survival, intervals.survival],
      [apr[0] / apr[1], intervals.apr],
      [br[0] / br[1], intervals.br],
    ];
    for (const [value, interval] of held) {
      expect(interval?.low).toBeLessThan(value ?? -1);
      expect(interval?.high).toBeGreaterThan(value ?? Infinity);
    }
  });

  it("root and inherited failures, roles and positions add up to the run", () => {
    const { failures, groups, side, tp } = run;
    const sum = <Item>(items: readonly Item[], pick: (item: Item) => number): number =>
      items.reduce((all, item) => all + pick(item), 0);
    expect(sum(groups.role, ({ planned }) => planned)).toBe(side.counts.planned);
    expect(sum(groups.role, ({ yes }) => yes)).toBe(side.counts.yes);
    expect(sum(groups.role, ({ missing }) => missing)).toBe(side.counts.missing);
    expect(sum(groups.request, ({ strict }) => strict.counts[0])).toBe(tp[0]);
    expect(sum(groups.archetype, ({ strict }) => strict[0])).toBe(tp[0]);
    expect(sum(groups.archetype, ({ rootFailures }) => rootFailures)).toBe(failures.root);
    const unusable = sum(groups.archetype, ({ usable: [passed, turns] }) => turns - passed);
    expect(failures.root + failures.inherited).toBe(unusable);
    expect(run.irParentsOk).toEqual(side.irParentsOk);
  });

  it("one app has no interval, and the reason is said", () => {
    const { intervals } = scoreRows(rows.slice(0, 1));
    expect(intervals).toMatchObject({ apps: 1, resamples: 0, grade: null, survival: null, apr: null, br: null });
    expect(intervals.unavailable).toMatch(/^one app: /);
    expect(scoreRows([]).intervals.unavailable).toMatch(/^no app: /);
  });

  it("the order of the apps does not matter", () => {
    const shuffles = fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length });
    fc.assert(
      fc.property(shuffles, (shuffled) => {
        const { intervals, survivalCurve, groups } = scoreRows(shuffled);
        expect({ intervals, survivalCurve, groups }).toEqual({
          intervals: run.intervals,
          survivalCurve: run.survivalCurve,
          groups: run.groups,
        });
      }),
      { numRuns: 20 },
    );
  });

  it("apps of a split are taken together where the rows name one", () => {
    const split = (name: string, { sampleIndex, row }: SampledRow): SampledRow => ({
      sampleIndex,
      row: { ...row, raw: { ...row.raw, split: name } },
    });
    const named = rows.slice(0, 3).map((row, index) => split(index < 2 ? "fr" : "de", row));
    expect(scoreRows(named).groups.split).toMatchObject([
      { split: "de", apps: 1, grade: 0, survival: 0 },
      { split: "fr", apps: 2, survival: 6.5 },
    ]);
  });
});
