import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { exportRun } from "../../src/exchange/export-run.ts";
import { fromCells, toCells } from "../../src/exchange/csv-columns.ts";
import { importRun } from "../../src/exchange/import-run.ts";
import { scorePaths, scoreRunFolder } from "../../src/report/score-source.ts";
import { FlatLine } from "../../src/trace/flat-verdicts.ts";
import { readRunFolder } from "../../src/trace/run-folder.ts";
import { generateWebvoyager, END_STATES } from "./generate-webvoyager.ts";

const evoweb = { version: "0.0.0", commit: null };
const time = "2026-01-02T03:04:05.678Z";
const endState = fc.constantFrom(...END_STATES);
const resultSets = fc.array(fc.array(endState, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });

test("a run exported as verdicts or CSV scores the same, directly and after an import", async () => {
  await fc.assert(
    fc.asyncProperty(resultSets, async (apps) => {
      const dir = await mkdtemp(join(tmpdir(), "evoweb-trip-"));
      // One folder that is surely there, as a tree without any is refused.
      const sampled = generateWebvoyager(join(dir, "in"), "bolt", [["answer_yes"], ...apps]);
      writeFileSync(join(dir, "rows"), sampled.map(({ row }) => `${JSON.stringify(row.raw)}\n`).join(""));
      const out = join(dir, "run");
      await importRun({ layout: "webvoyager", source: join(dir, "in"), rows: join(dir, "rows"), out, evoweb, time });
      const { score } = scoreRunFolder(readRunFolder(out));
      for (const layout of ["verdicts", "csv"] as const) {
        const source = join(dir, layout);
        writeFileSync(source, [...exportRun(readRunFolder(out), layout)].join(""));
        const again = join(dir, `again-${layout}`);
        const rows = join(out, "rows.jsonl");
        const { problems } = await importRun({ layout, source, rows, out: again, evoweb, time });
        expect(problems.total).toBe(0);
        expect(scoreRunFolder(readRunFolder(again)).score).toEqual(score);
      }
      const [direct] = await scorePaths([join(dir, "verdicts")], join(out, "rows.jsonl"));
      expect(direct?.score).toEqual(score);
      await rm(dir, { recursive: true });
    }),
    { numRuns: 5 },
  );
});

test("every flat line survives its cells", () => {
  const text = fc.string({ minLength: 1 });
  const index = fc.integer({ min: 1, max: 999_999_999 });
  const flag = fc.constantFrom(true, false, null);
  const verdict = fc.constantFrom("YES", "PARTIAL", "NO", "MISSING");
  const rules = fc.record({ legacy: verdict, strict: verdict }, { requiredKeys: ["legacy"] });
  const check = fc.record(
    {
      type: fc.constantFrom("check", "sweep"),
      sampleIndex: index,
      request: index,
      check: fc.nat(999_999_999),
      verdict,
      cause: text,
      class: text,
      rules,
    },
    { requiredKeys: ["type", "sampleIndex", "request", "check", "verdict", "cause"] },
  );
  const request = fc.record({
    type: fc.constant("request"),
    sampleIndex: index,
    request: index,
    responded: flag,
    up: flag,
  });
  const run = fc.record({ type: fc.constant("run"), planned: fc.array(index, { minLength: 1 }) });
  fc.assert(
    fc.property(fc.oneof(check, request, run), (value) => {
      const line = FlatLine.parse(value);
      expect(FlatLine.parse(fromCells(toCells(line)))).toEqual(line);
    }),
  );
});
