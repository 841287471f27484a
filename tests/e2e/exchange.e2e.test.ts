import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generateWebvoyager } from "../exchange/generate-webvoyager.ts";
import { evoweb } from "./evoweb.ts";

test("published results are imported, scored under both rules and exported", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "evoweb-exchange-"));
  const rows = generateWebvoyager(join(cwd, "in"), "bolt", [
    ["answer_yes", "damaged"],
    ["answer_partial", "answer_no"],
  ]);
  await writeFile(join(cwd, "rows.jsonl"), rows.map(({ row }) => `${JSON.stringify(row.raw)}\n`).join(""));
  const imported = await evoweb(["import", "webvoyager", "in", "--rows", "rows.jsonl", "--out", "r"], { cwd });
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(imported.stdout).toContain("results/task000001_1/interact_messages.json: is no JSON");
  const scored = await evoweb(["score", "r", "--json"], { cwd });
  // One check of four has no verdict.
  expect(scored.code).toBe(3);
  const { run } = JSON.parse(scored.stdout) as { run: { webgen: unknown } };
  expect(run.webgen).toEqual({
    legacy: { yes: 1, partial: 1, no: 1, startFailed: 1, total: 4, accuracy: 37.5 },
    strict: { yes: 1, partial: 1, no: 1, startFailed: 0, unjudged: 1, total: 4, accuracy: 37.5 },
  });
  const csv = await evoweb(["export", "r", "--format", "csv", "--out", "v.csv"], { cwd });
  expect(csv).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect((await readFile(join(cwd, "v.csv"), "utf8")).split("\n")).toHaveLength(9);
  expect((await evoweb(["export", "r", "--format", "junit"], { cwd })).stdout).toMatch(/^<\?xml/);
  expect((await evoweb(["export", "r", "--format", "webgen-layout"], { cwd })).code).toBe(2);
  await rm(cwd, { recursive: true });
});
