import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { exportRun } from "../../src/exchange/export-run.ts";
import { importRun } from "../../src/exchange/import-run.ts";
import { junitXml } from "../../src/exchange/junit.ts";
import { escapeLatex, escapeMarkdown } from "../../src/exchange/score-tables.ts";
import { writeWebgenLayout } from "../../src/exchange/webgen-layout.ts";
import { scoreRunFolder } from "../../src/report/score-source.ts";
import { readRunFolder } from "../../src/trace/run-folder.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { END_STATES, generateWebvoyager } from "./generate-webvoyager.ts";

const evoweb = { version: "0.0.0", commit: null };
const time = "2026-01-02T03:04:05.678Z";

async function makeRun() {
  const dir = await makeTempFolder();
  const sampled = generateWebvoyager(join(dir, "in"), "aider", [END_STATES, ["answer_yes"], ["absent"]]);
  writeFileSync(join(dir, "rows"), sampled.map(({ row }) => `${JSON.stringify(row.raw)}\n`).join(""));
  const out = join(dir, "run");
  const request = {
    layout: "webvoyager",
    source: join(dir, "in"),
    rows: join(dir, "rows"),
    out,
    evoweb,
    time,
  } as const;
  await importRun({ ...request, agent: "a_b|<c>" });
  return { dir, request, folder: readRunFolder(out) };
}

test("tables and results of a run", async () => {
  const { folder } = await makeRun();
  const text = (format: Parameters<typeof exportRun>[1]) => [...exportRun(folder, format)].join("");
  expect(text("webgen-table")).toMatchInlineSnapshot(`
    "| test_name | yes | partial | no | start_failed | total | yes_rate | partial_rate | no_rate | start_failed_rate | accuracy | Content Presentation | User Interaction | Data Management | Functional Testing | Data Display Testing | Design Validation Testing |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | a\\_b\\|&lt;c> | 4 | 1 | 6 | 7 | 18 | 22.2 | 5.6 | 33.3 | 38.9 | 25.0 | 0.0 | 21.9 | 100.0 | 25.0 | 30.0 | 20.0 |
    "
  `);
  expect(text("markdown")).toMatchInlineSnapshot(`
    "| App | Grade | Survival | TP | APR | BR |
    | --- | --- | --- | --- | --- | --- |
    | a\\_b\\|&lt;c> (incomplete) | 38.54 | 0.33 | 1/3 | n/a (0/0) | n/a (0/0) |
    | 1 000001 | 15.63 | 0/1 | 0/1 | n/a (0/0) | n/a (0/0) |
    | 2 000002 | 100.00 | 1/1 | 1/1 | n/a (0/0) | n/a (0/0) |
    | 3 000003 | 0.00 | 0/1 | 0/1 | n/a (0/0) | n/a (0/0) |
    "
  `);
  expect(text("latex")).toMatchInlineSnapshot(`
    "\\begin{tabular}{lrrrrr}
    \\hline
    App & Grade & Survival & TP & APR & BR \\\\
    \\hline
    a\\_b|<c> (incomplete) & 38.54 & 0.33 & 1/3 & n/a (0/0) & n/a (0/0) \\\\
    \\hline
    1 000001 & 15.63 & 0/1 & 0/1 & n/a (0/0) & n/a (0/0) \\\\
    2 000002 & 100.00 & 1/1 & 1/1 & n/a (0/0) & n/a (0/0) \\\\
    3 000003 & 0.00 & 0/1 & 0/1 & n/a (0/0) & n/a (0/0) \\\\
    \\hline
    \\end{tabular}
    "
  `);
  const entries = parse(text("eval-results")) as { dataset: { task_id: string }; value: number }[];
  const { score } = scoreRunFolder(folder);
  expect(entries.map(({ dataset, value }) => [dataset.task_id, value])).toEqual([
    ["grade", score.run.grade],
    ["survival", score.run.survival],
    ["webgen_accuracy", score.run.webgen?.legacy.accuracy],
  ]);
});

test("a run written as check folders imports again with the same verdicts under both rules", async () => {
  const { dir, request, folder } = await makeRun();
  writeWebgenLayout(folder, join(dir, "again"));
  await importRun({ ...request, source: join(dir, "again"), out: join(dir, "run-again") });
  const again = scoreRunFolder(readRunFolder(join(dir, "run-again"))).score.run;
  expect(again.webgen).toEqual(scoreRunFolder(folder).score.run.webgen);
  expect(() => writeWebgenLayout(folder, join(dir, "again"))).toThrow("cannot write");
});

test("JUnit XML holds no sign that XML forbids, whatever the rows say", async () => {
  const { folder } = await makeRun();
  expect([...junitXml(folder)].join("").match(/<testcase /g)).toHaveLength(END_STATES.length + 2);
  const hostile = fc.string({
    unit: fc.oneof(fc.constantFrom("<", "&", '"', "]]>", "\0", "\u001b", "\uD800", "\uFFFE", "\n"), fc.string()),
  });
  fc.assert(
    fc.property(hostile, (task) => {
      const rows = folder.rows.slice(0, 1).map(({ sampleIndex, row }) => {
        const requests = row.requests.map((one) => ({
          ...one,
          checks: [{ task, expectedResult: "", role: "functional" as const }],
        }));
        return { sampleIndex, row: { ...row, id: task, requests } };
      });
      const xml = [...junitXml({ ...folder, rows })].join("");
      expect(xml).toMatch(/^[\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u);
      expect(xml.replaceAll(/<\?xml [^<>]*\?>|<\/?[a-z]+(?: [a-z]+="[^"<]*")*\/?>|\s/g, "")).toBe("");
      expect(xml.replaceAll(/&(?:amp|lt|gt|quot|#\d+);/g, "")).not.toContain("&");
    }),
  );
});

test("text in cells cannot leave them", () => {
  expect(escapeMarkdown("a|b\n<i>*x*")).toBe(String.raw`a\|b &lt;i>\*x\*`);
  expect(escapeLatex("50% of a_b & \\x{~^}")).toBe(
    String.raw`50\% of a\_b \& \textbackslash{}x\{\textasciitilde{}\textasciicircum{}\}`,
  );
});
