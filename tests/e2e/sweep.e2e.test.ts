import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SweepTable } from "../../src/report/sweep-table.ts";
import { seededDraw } from "../../src/scoring/statistics/random.ts";
import { evoweb, startEvoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-sweep-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SWEEP = ["sweep", "--agents", "replay,noop", "--splits", "test,he", "--requests", "1"];
const args = (out: string): string[] => [...SWEEP, "--sandbox", "local", "--out", out, "--json"];

const evidenceFiles = (dir: string): number =>
  existsSync(dir) ? readdirSync(dir, { recursive: true }).filter((name) => String(name).endsWith(".webp")).length : 0;

test("a sweep of two agents and two splits, killed three times, gives the table of an undisturbed one", async () => {
  const [killed, whole] = [join(folder, "killed"), join(folder, "whole")];
  const draw = seededDraw(1);
  for (let kill = 0; kill < 3; kill += 1) {
    const before = evidenceFiles(killed);
    const { child, finished } = startEvoweb(args(killed), { cwd: folder });
    const more = 1 + draw(3);
    await expect.poll(() => evidenceFiles(killed) >= before + more, { timeout: 120_000, interval: 50 }).toBe(true);
    child.kill("SIGKILL");
    await finished;
  }
  const resumed = await evoweb(["sweep", "--resume", killed, "--json"], { cwd: folder });
  expect(resumed.stderr).not.toContain("evoweb:");
  expect(resumed.code).toBe(0);
  const undisturbed = await evoweb(args(whole), { cwd: folder });
  expect(undisturbed.code).toBe(0);
  const table = JSON.parse(undisturbed.stdout) as SweepTable;
  expect(JSON.parse(resumed.stdout)).toEqual(table);
  expect(table.rows.map(({ agent, columns }) => [agent, columns.map(({ split }) => split)])).toEqual([
    ["replay", ["test", "he"]],
    ["noop", ["test", "he"]],
  ]);
  const again = await evoweb(args(whole), { cwd: folder });
  expect(again.stderr.match(/finished before/gu)).toHaveLength(4);
  expect(again.stdout).toBe(undisturbed.stdout);
  const other = await evoweb([...SWEEP, "--sandbox", "local", "--repeats", "2", "--out", whole], { cwd: folder });
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("product.repeats is 1 there and 2 now");
});
