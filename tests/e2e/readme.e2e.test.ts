import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mutantChanges } from "./mutant-changes.ts";
import { describeWithDocker } from "../runner/docker/engine.ts";
import { notYes, parseScore, ROOT, start, type Finished } from "./evoweb.ts";

// The README's commands as they stand there, in a fresh clone, one after the other. `npm cit` is what runs this test.
const commands = readFileSync(join(ROOT, "README.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("./evoweb"))
  .map((line) => line.replace(/ +#.*$/u, ""));

let clone: string;
const results = new Map<string, Finished>();
const ran = (part: string): Finished => {
  const found = [...results].find(([command]) => command.includes(part));
  if (found === undefined) throw new Error(`the README has no command with ${part}`);
  return found[1];
};

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-readme-"));
  clone = join(folder, "evoweb");
  const cloned = await start(["git", "clone", "--quiet", ROOT, clone]).finished;
  expect(cloned).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await rm(join(clone, ".."), { recursive: true, force: true });
});

describeWithDocker("the README in a fresh clone", () => {
  test.each(commands)("%s", async (command) => {
    const result = await start(["/bin/sh", "-c", command], { cwd: clone }).finished;
    results.set(command, result);
    expect(`${result.stderr.slice(-2000)}\ncode ${result.code}`).toMatch(/code 0$/u);
  });

  test("the known-good solution reaches Grade 100.00 and Survival 10 in Docker", () => {
    const { stdout, stderr } = ran("./evoweb run");
    expect(stderr).toContain("sandbox: docker");
    expect(stdout).toMatch(/Grade +100\.00/u);
    expect(stdout).toMatch(/Survival +10\.00/u);
  });

  test("the forgetful agent loses exactly what the mutants' table says", async () => {
    expect(notYes(join(clone, "runs/forgetful"))).toEqual(await mutantChanges("forgetful"));
    const { run } = parseScore(ran("score runs/forgetful").stdout);
    expect(run.complete).toBe(true);
    expect(run.grade).toBeLessThan(100);
  });

  test("the idle agent gets Grade 0, Survival 0 and no APR", () => {
    const { stdout } = ran("--agent noop");
    expect(stdout).toMatch(/Grade +0\.00/u);
    expect(stdout).toMatch(/Survival +0\.00/u);
    expect(stdout).toMatch(/APR +n\/a +\(0\/0\)/u);
  });
});

test("the package works in an empty folder", async () => {
  const folder = join(clone, "../package");
  await mkdir(folder);
  const packed = await start(["npm", "pack", "--silent", "--pack-destination", folder], { cwd: ROOT }).finished;
  expect(packed.code).toBe(0);
  const tarball = packed.stdout.trim().split("\n").at(-1) ?? "";
  await start(["npm", "init", "-y"], { cwd: folder }).finished;
  const installed = await start(["npm", "install", "--no-audit", "--no-fund", join(folder, tarball)], { cwd: folder })
    .finished;
  expect(installed.code).toBe(0);
  const args = ["npx", "evoweb", "run", "--sandbox", "local", "--requests", "2", "--out", "r", "--json"] as const;
  const run = await start([...args], { cwd: folder }).finished;
  expect(`${run.stderr.slice(-2000)}\ncode ${run.code}`).toMatch(/code 0$/u);
  expect(parseScore(run.stdout).run).toMatchObject({ complete: true, grade: 100, survival: 2 });
  expect(JSON.parse(await readFile(join(folder, "r/run.json"), "utf8"))).toMatchObject({
    provenance: { evoweb: { commit: null } },
  });
});
