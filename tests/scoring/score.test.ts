import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeBytes } from "../../src/trace/jsonl.ts";
import { parseRow } from "../../src/dataset/parse-row.ts";
import type { SampledRow } from "../../src/dataset/row.ts";
import { scoreObserved } from "../../src/scoring/score.ts";
import type { AppMetrics } from "../../src/scoring/score-app.ts";
import { parseFlatVerdicts } from "../../src/trace/flat-verdicts.ts";

const vectors = new URL("../fixtures/vectors/", import.meta.url);
const read = (name: string): Buffer => readFileSync(new URL(name, vectors));

interface Vector {
  readonly sampleIndex: number;
  readonly name: string;
  readonly primary: AppMetrics;
  readonly lo: AppMetrics;
  readonly hi: AppMetrics;
}

/** Rounds floats, so that sums made in another order are the same number. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === "number" ? Math.round(part * 1e9) / 1e9 + 0 : part,
  );
}

const expected = JSON.parse(read("expected.json").toString()) as Vector[];
const rows: SampledRow[] = read("rows.jsonl")
  .toString()
  .trimEnd()
  .split("\n")
  .map((line, index) => ({ sampleIndex: index + 1, row: parseRow(JSON.parse(line)) }));

describe("definition v1 on the vectors", () => {
  const flat = parseFlatVerdicts(decodeBytes(read("verdicts.jsonl")), "verdicts.jsonl");
  const score = scoreObserved({ rows, apps: flat.apps, isolation: null, observation: null });

  it("reads the vectors without a note", () => {
    expect(flat.planned).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(flat.notes).toMatchObject({ tornLine: null, badLines: [], gluedLines: [], duplicates: 0 });
  });

  it.each(expected)("app $name", ({ sampleIndex, primary, lo, hi }) => {
    const app = score.apps.find((candidate) => candidate.sampleIndex === sampleIndex);
    expect(rounded({ primary: app?.primary, lo: app?.lo, hi: app?.hi })).toEqual(rounded({ primary, lo, hi }));
  });

  it("pools the run over all planned apps", () => {
    const mean = (pick: (app: AppMetrics) => number | null): number =>
      expected.reduce((sum, app) => sum + (pick(app.primary) ?? 0), 0) / expected.length;
    expect(score.run.grade).toBeCloseTo(
      mean((app) => app.grade),
      9,
    );
    expect(score.run.survival).toBeCloseTo(
      mean((app) => app.survival),
      9,
    );
    expect(score.run).toMatchObject({
      complete: false,
      observation: "mixed",
      planned: 71,
      requestsRun: 65,
      apr: [9 + 0 + 0 + 8 + 3 + 0 + 0 + 6, 9 + 3 + 0 + 9 + 3 + 0 + 3 + 7],
      br: [9 + 4 + 0 + 8 + 3 + 0 + 4 + 8, 9 + 6 + 0 + 9 + 3 + 0 + 6 + 9],
    });
    expect(score.run.side.notRun).toEqual([{ sampleIndex: 5, requests: [5, 6, 7, 8, 9, 10], planned: 10 }]);
  });
});
