import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { evoweb, startEvoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-faults-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const dryRun = async (...args: readonly string[]) => {
  const { code, stdout } = await evoweb(["run", "--dry-run", ...args], { cwd: folder });
  expect(code).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
};

test.each([
  [["--requests", "10"], { requests: 10 }],
  [["--requests", "10", "--requests", "3"], { requests: 3 }],
  [["--workers", "4"], { workers: 4 }],
  [["--workers=08"], { workers: 8 }],
  [["--check-timeout", "30s"], { checkTimeoutMs: 30_000 }],
  [["--cpus", "0.1"], { cpus: 0.1 }],
])("the options %j are in force as written", async (args, expected) => {
  expect(await dryRun(...args)).toMatchObject(expected);
});

test.each([
  ["--workers", "0"],
  ["--workers", "4x"],
  ["--workers", ""],
  ["--workers", "1e3"],
  ["--check-timeout", "Infinity"],
  ["--cpus", "1,5"],
  ["--sandbox", "podman"],
])("the option %s %j is refused by name and value, and nothing is started", async (flag, value) => {
  const { code, stdout, stderr } = await evoweb(["run", flag, value], { cwd: folder });
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain(flag);
  expect(stderr).toContain(`'${value}'`);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["a missing data set", 1, ["run", "--dataset", "./not-there.jsonl"], "not-there.jsonl"],
  ["an app that the data set has not", 2, ["run", "--apps", "99"], "99"],
  ["more requests than a row has", 2, ["run", "--requests", "999999"], "999999"],
  ["an unknown option", 2, ["run", "--no-such-option"], "--no-such-option"],
  ["an unknown command", 2, ["no-such-command"], "no-such-command"],
  ["an unknown agent", 2, ["run", "--agent", "nobody"], "replay"],
  ["an unknown mutant", 2, ["run", "--agent", "replay:nothing-such"], "nothing-such"],
  ["a command agent without a command", 2, ["run", "--agent", "command"], "--command"],
  ["a folder that is no run", 1, ["run", "--resume", "."], "run.json"],
  ["a run folder that is not there", 2, ["score", "no-run"], "no-run"],
])("%s ends with code %d and one readable message", async (...[, expected, args, named]) => {
  const { code, stdout, stderr } = await evoweb(args, { cwd: folder });
  expect(code).toBe(expected);
  expect(stdout).toBe("");
  expect(stderr).toContain(named);
  expect(stderr).not.toMatch(/^\s+at /mu);
  expect(await readdir(folder)).toEqual([]);
});

test("a DOCKER_HOST that does not answer is an error, never a silent fall-back", async () => {
  const { code, stderr } = await evoweb(["run"], { cwd: folder, env: { DOCKER_HOST: "tcp://127.0.0.1:1" } });
  expect(code).toBe(1);
  expect(stderr).toContain("Docker");
  expect(await readdir(folder)).toEqual([]);
});

test("a browser that was named and is none is an error that names it", async () => {
  const args = ["run", "--sandbox", "local"];
  const { code, stderr } = await evoweb(args, { cwd: folder, env: { EVOWEB_CHROMIUM: "/bin/false" } });
  expect(code).toBe(1);
  expect(stderr).toContain("/bin/false");
});

test("a run folder is never written over, and two runs started at once get folders of their own", async () => {
  const cwd = await mkdtemp(join(folder, "two-"));
  const args = ["run", "--sandbox", "local", "--agent", "noop", "--apps", "1", "--requests", "1"];
  const both = await Promise.all([evoweb(args, { cwd }), evoweb(args, { cwd })]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const made = await readdir(join(cwd, "runs"));
  expect(made).toHaveLength(2);
  const third = await evoweb([...args, "--out", join("runs", made[0] ?? "")], { cwd });
  expect(third.code).toBe(2);
  expect(third.stderr).toContain("--resume");
});

test("Ctrl+C ends a run with 130 after cleaning up, and the run can go on", async () => {
  const cwd = await mkdtemp(join(folder, "interrupt-"));
  const args = [
    "run",
    "--sandbox",
    "local",
    "--agent",
    "command",
    "--command",
    "sleep 60",
    "--apps",
    "1",
    "--requests",
    "1",
  ];
  const { child, finished } = startEvoweb([...args, "--out", "r"], { cwd, env: { TMPDIR: cwd } });
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      if (chunk.toString("utf8").includes("sandbox: local")) resolve();
    });
  });
  await expect
    .poll(() => readdir(join(cwd, "r/app-0001")).catch(() => []), { timeout: 60_000 })
    .toContain("trace.jsonl");
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect(code).toBe(130);
  expect(stderr).toContain("--resume");
  // Nothing but the run folder is left; it is no longer claimed.
  expect(await readdir(cwd)).toEqual(["r"]);
  expect(await readdir(join(cwd, "r"))).not.toContain("lock.json");
});

test("rows in which one app is unsound still run the sound ones, and say why when it is asked for", async () => {
  const file = join(folder, "rows.jsonl");
  const check = { task: "Open it", expected_result: "It is there", task_category: {} };
  const row = (id: string, instruction: string) => JSON.stringify({ id, instruction, ui_instruct: [check] });
  await writeFile(file, `${row("000001", "Build it")}\n${row("000002", "")}\n`);
  const refused = await evoweb(["run", "--dataset", file, "--agent", "noop", "--apps", "2", "--dry-run"]);
  const args = ["run", "--dataset", file, "--agent", "noop", "--sandbox", "local", "--apps"];
  const bad = await evoweb([...args, "2", "--out", join(folder, "bad")]);
  expect([refused.code, bad.code]).toEqual([0, 1]);
  expect(bad.stderr).toContain("000002");
  const good = await evoweb([...args, "1", "--out", join(folder, "good")]);
  // Without an app there is nothing to judge: the check is NO, and that is a result.
  expect(good.code).toBe(0);
});
