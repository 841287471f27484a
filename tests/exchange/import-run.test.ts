import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SampledRow } from "../../src/dataset/row.ts";
import { importRun } from "../../src/exchange/import-run.ts";
import type { ImportRequest } from "../../src/exchange/import-run.ts";
import { scorePaths, scoreRunFolder } from "../../src/report/score-source.ts";
import { readRunFolder } from "../../src/trace/run-folder.ts";
import { makeTempFolder } from "../temp-folder.ts";
import {
  addHostileFolders,
  END_STATES,
  EXPECTED,
  generateWebvoyager,
  webgenRow,
  writeCheckFolder,
} from "./generate-webvoyager.ts";
import type { EndState } from "./generate-webvoyager.ts";

const VECTORS = new URL("../fixtures/vectors/", import.meta.url).pathname;

async function importFrom(dir: string, rows: readonly SampledRow[] | string, request: Partial<ImportRequest>) {
  const rowsPath = typeof rows === "string" ? rows : join(dir, "rows.jsonl");
  if (typeof rows !== "string") writeFileSync(rowsPath, rows.map(({ row }) => `${JSON.stringify(row.raw)}\n`).join(""));
  const out = join(dir, `run-${request.layout}`);
  const evoweb = { version: "1.2.3", commit: null };
  const time = "2026-01-02T03:04:05.678Z";
  const source = join(dir, "in");
  const report = await importRun({ layout: "webvoyager", source, rows: rowsPath, out, evoweb, time, ...request });
  const folder = readRunFolder(report.out);
  return { report, out, run: folder.run, scored: scoreRunFolder(folder) };
}

function count(states: readonly EndState[], rule: 0 | 1): Record<string, number> {
  const counts: Record<string, number> = {
    yes: 0,
    partial: 0,
    no: 0,
    startFailed: 0,
    ...(rule === 1 ? { unjudged: 0 } : {}),
  };
  for (const state of states) counts[EXPECTED[state][rule]] = (counts[EXPECTED[state][rule]] ?? 0) + 1;
  return counts;
}

test.each(["bolt", "openhands", "aider"] as const)("all end states of a %s run, published and strict", async (form) => {
  const dir = await makeTempFolder();
  const apps: EndState[][] = [[...END_STATES], ["answer_yes", "forced_yes", "answer_partial"], ["absent", "absent"]];
  const rows = generateWebvoyager(join(dir, "in"), form, apps);
  const { report, run, scored } = await importFrom(dir, rows, {});
  const states = apps.flat();
  const total = states.length;
  const legacy = count(states, 0);
  const strict = count(states, 1);
  // The third app left nothing at all: it did not start.
  Object.assign(strict, { startFailed: (strict["startFailed"] ?? 0) + 2, unjudged: (strict["unjudged"] ?? 0) - 2 });
  const accuracy = ({ yes = 0, partial = 0 }: Record<string, number>) => (100 * (yes + 0.5 * partial)) / total;
  expect(scored.score.run.webgen).toEqual({
    legacy: { ...legacy, total, accuracy: accuracy(legacy) },
    strict: { ...strict, total, accuracy: accuracy(strict) },
  });
  expect(report.problems.byKind).toEqual({ no_messages: 2, damaged: 2 });
  expect(run.imported).toMatchObject({ layout: "webvoyager", assumeResponded: false, judge: null });
  expect(run.provenance).toMatchObject({ agent: { name: null }, judge: null, host: null });
  expect(scored.notes).toEqual([]);
  expect(scored.effort?.counted.judge).toMatchObject({ inputTokens: 26_000, calls: 26, durationMs: null });
});

test("who failed is told by how the conversation ends", async () => {
  const dir = await makeTempFolder();
  const rows = generateWebvoyager(join(dir, "in"), "bolt", [END_STATES]);
  const { scored } = await importFrom(dir, rows, {});
  const shortfalls = scored.score.run.side.counts.shortfalls.map(
    (one) => `${one.verdict} ${one.cause} ${one.class} ${one.count}`,
  );
  expect(shortfalls).toMatchInlineSnapshot(`
    [
      "MISSING judge_error null 3",
      "MISSING infra disk 2",
      "NO judged null 2",
      "MISSING infra browser 1",
      "MISSING infra model_api 1",
      "MISSING judge_error malformed_reply 1",
      "MISSING judge_error step_budget 1",
      "MISSING not_reached null 1",
      "NO app_down no_answer 1",
      "PARTIAL judged null 1",
    ]
  `);
});

test("strangers in the tree are named and change nothing; links are not followed", async () => {
  const dir = await makeTempFolder();
  const rows = generateWebvoyager(join(dir, "in"), "bolt", [["answer_yes", "absent"]]);
  addHostileFolders(join(dir, "in"));
  symlinkSync(join(dir, "in/results/task000001_0"), join(dir, "in/results/task000001_1"));
  const { report, scored } = await importFrom(dir, rows, { assumeResponded: true, agent: "a", judge: "j" });
  expect(scored.score.run.webgen?.legacy).toEqual({
    yes: 1,
    partial: 0,
    no: 0,
    startFailed: 1,
    total: 2,
    accuracy: 50,
  });
  expect(report.problems.byKind).toEqual({ unknown_folder: 3, not_planned: 2 });
  expect(scored.run).toMatchObject({
    imported: { assumeResponded: true, judge: "j" },
    provenance: { agent: { name: "a" } },
  });
});

test("of a thousand problems all are counted and a hundred named", async () => {
  const dir = await makeTempFolder();
  const rows = generateWebvoyager(join(dir, "in"), "aider", [["answer_yes"]]);
  for (let app = 2; app <= 1001; app += 1) mkdirSync(join(dir, "in/results", `tasktask_${app}_0`));
  const { report } = await importFrom(dir, rows, {});
  expect(report.problems.total).toBe(1000);
  expect(report.problems.listed).toHaveLength(100);
});

test("evidence is referred to by hash, and screenshots only if wanted", async () => {
  const dir = await makeTempFolder();
  const rows = generateWebvoyager(join(dir, "in"), "bolt", [["answer_yes"]]);
  const paths = async (name: string, withScreenshots: boolean) => {
    const out = join(dir, name);
    await importFrom(dir, rows, { out, withScreenshots });
    return [...readFileSync(join(out, "app-0001/trace.jsonl"), "utf8").matchAll(/"path":"([^"]*)"/g)].map(
      ([, path]) => path,
    );
  };
  expect(await paths("a", true)).toEqual([
    "results/task000001_0/interact_messages.json",
    "results/task000001_0/screenshot1.png",
  ]);
  expect(await paths("b", false)).toEqual(["results/task000001_0/interact_messages.json"]);
});

test("a sequence is read request by request, and one that nobody came to is not a failed one", async () => {
  const dir = await makeTempFolder();
  const rows = readFileSync(join(VECTORS, "rows.jsonl"), "utf8").split("\n").slice(0, 2);
  writeFileSync(join(dir, "rows.jsonl"), rows.join("\n"));
  for (const check of [0, 1, 2, 3, 4]) {
    writeCheckFolder(join(dir, `in/request-1/results/taskworkspace_0_${check}`), "answer_yes");
    writeCheckFolder(join(dir, `in/request-2/results/taskworkspace_0_${check}`), "answer_yes");
    writeCheckFolder(join(dir, `in/request-1/results/taskworkspace_1_${check}`), "answer_yes");
  }
  const { scored } = await importFrom(dir, join(dir, "rows.jsonl"), { layout: "webvoyager-sequence" });
  const states = scored.score.apps.map(({ side }) => side.states.slice(0, 3));
  expect(states).toEqual([
    ["run", "run", "not_run"],
    ["run", "run", "not_run"],
  ]);
  expect(scored.score.run.webgen?.legacy.yes).toBe(15);
  expect(scored.score.run.side.counts.appDown).toBe(5);
});

test("flat verdicts score the same after an import as before it", async () => {
  const dir = await makeTempFolder();
  const rows = join(VECTORS, "rows.jsonl");
  const source = join(VECTORS, "verdicts.jsonl");
  const [direct] = await scorePaths([source], rows);
  const { scored, report } = await importFrom(dir, rows, { layout: "verdicts", source });
  expect(report.problems.total).toBe(0);
  expect(scored.score).toEqual(direct?.score);
});

test("bad lines are named; two that disagree are refused", async () => {
  const dir = await makeTempFolder();
  const rows = [webgenRow(1, 3)];
  const source = join(dir, "v.csv");
  const head = "sampleIndex,request,check,verdict,extra";
  writeFileSync(
    source,
    [head, "1,1,0,YES,", "1,1,1,MAYBE,", "1,1,1", '1,1,2,"N"O,', "7,1,0,YES,", "1,1,0,YES,", "1,1,2,NO,"].join("\n"),
  );
  const { report, scored } = await importFrom(dir, rows, { layout: "csv", source });
  expect(report.problems.listed.map(({ kind, line }) => `${kind} ${line}`)).toEqual([
    "unknown_column 1",
    "bad_line 3",
    "bad_line 4",
    "bad_line 5",
    "not_planned 6",
    "duplicate 7",
  ]);
  expect(scored.score.run.side.counts).toMatchObject({ yes: 1, no: 1, missing: 1 });
  writeFileSync(source, [head, "1,1,0,YES,", "1,1,0,NO,"].join("\n"));
  await expect(importFrom(dir, rows, { layout: "csv", source, out: join(dir, "o") })).rejects.toThrow(
    "line 3: it disagrees with line 2",
  );
});

test("what cannot be an import is refused before anything is written", async () => {
  const dir = await makeTempFolder();
  const rows = [webgenRow(1, 1)];
  mkdirSync(join(dir, "in"));
  await expect(importFrom(dir, rows, {})).rejects.toThrow("holds no results");
  await expect(importFrom(dir, rows, { source: join(dir, "none") })).rejects.toThrow("there is no");
  await expect(importFrom(dir, rows, { layout: "csv" })).rejects.toThrow("is a folder");
  await expect(importFrom(dir, rows, { layout: "webvoyager-sequence", pattern: "(" })).rejects.toThrow("--pattern");
  await expect(importFrom(dir, rows, { layout: "webvoyager-sequence", pattern: "x" })).rejects.toThrow("named groups");
});
