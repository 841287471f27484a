import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Calibration } from "../../src/index.ts";
import { evoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-calibrate-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const MUTANTS = "000001-blank-page,000001-cents-dropped";

async function measure(judge: string, ...args: readonly string[]): Promise<Calibration> {
  const chosen = ["--apps", "1", "--requests", "1", "--mutants", MUTANTS, "--checks", "8"];
  const result = await evoweb(["calibrate", "--judge", judge, "--sandbox", "local", "--json", ...chosen, ...args], {
    cwd: folder,
  });
  expect(`${result.stderr.slice(-2000)}\n${result.code}`).toMatch(/\n0$/u);
  return JSON.parse(result.stdout) as Calibration;
}

test("the oracle is perfect by construction and says so; judges that do not look have the errors that are known", async () => {
  const oracle = await measure("oracle", "--repeats", "2");
  expect(Object.keys(oracle)).toEqual(
    "judge checks confusion falseYes falseNo missing balancedAccuracy kappa flipRate costUsd msPerCheck groups wrong".split(
      " ",
    ),
  );
  expect(oracle.judge.note).toContain("perfect by construction");
  expect(oracle).toMatchObject({ falseYes: { count: 0, rate: 0 }, falseNo: { count: 0, rate: 0 }, missing: 0 });
  expect(oracle).toMatchObject({ balancedAccuracy: 1, kappa: 1, flipRate: 0, costUsd: 0, wrong: [] });
  // A blank page is decided before any judge is asked.
  expect(oracle.checks + oracle.judge.notAsked).toBe(8);
  expect(oracle.judge.notAsked).toBeGreaterThan(0);

  const yes = await measure("always-yes");
  expect(yes).toMatchObject({ checks: oracle.checks, falseYes: { rate: 1 }, falseNo: { rate: 0 } });
  expect(yes).toMatchObject({ balancedAccuracy: 0.5, kappa: 0, flipRate: null });
  expect(yes.wrong).toHaveLength(yes.falseYes.of);
  for (const { evidence } of yes.wrong) for (const path of evidence) expect(existsSync(join(folder, path))).toBe(true);

  const no = await measure("always-no");
  expect(no).toMatchObject({ falseYes: { rate: 0 }, falseNo: { rate: 1 }, balancedAccuracy: 0.5, kappa: 0 });
  expect(readdirSync(join(folder, "runs/calibrations")).filter((name) => name.endsWith(".json"))).toHaveLength(3);
});
