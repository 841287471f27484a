import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { evoweb, notYes, parseScore, type Finished } from "./evoweb.ts";
import { mutantChanges } from "./mutant-changes.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-local-run-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runLocally(name: string, ...args: readonly string[]): Promise<Finished> {
  const result = await evoweb(["run", "--sandbox", "local", "--json", "--out", name, ...args], { cwd: folder });
  expect(`${result.stderr.slice(-2000)}\n${result.code}`).toMatch(/\n0$/u);
  return result;
}

test("the solution reaches 100 and 10 on both apps, and a rescore prints the same bytes each time, equal to the run's", async () => {
  const { stdout } = await runLocally("solution");
  const { apps, run } = parseScore(stdout);
  expect(apps.map(({ primary }) => [primary.grade, primary.survival, primary.apr])).toEqual([
    [100, 10, [9, 9]],
    [100, 10, [9, 9]],
  ]);
  expect(run).toMatchObject({ complete: true, grade: 100, survival: 10, apr: [18, 18] });
  // No browser, engine or network is in reach of these: nothing is in PATH, and every proxy leads nowhere.
  const env = {
    PATH: "",
    DOCKER_HOST: "tcp://127.0.0.1:1",
    EVOWEB_CHROMIUM: "/nonexistent",
    HTTPS_PROXY: "http://127.0.0.1:1",
  };
  const rescores = [1, 2].map(() => evoweb(["score", "solution", "--json"], { cwd: folder, env }));
  for (const rescore of await Promise.all(rescores)) expect(rescore.stdout).toBe(stdout);
});

test("an independent solution of the first app gets YES on every check", async () => {
  const { stdout } = await runLocally("second", "--apps", "1", "--agent", "replay:second");
  expect(notYes(join(folder, "second"))).toEqual([]);
  expect(parseScore(stdout).run).toMatchObject({ grade: 100, survival: 10 });
});

test("the forgetful agent loses exactly what the mutants' table says", async () => {
  await runLocally("forgetful", "--agent", "replay:forgetful");
  expect(notYes(join(folder, "forgetful"))).toEqual(await mutantChanges("forgetful"));
});
