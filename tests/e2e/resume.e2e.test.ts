import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithDocker } from "../runner/docker/engine.ts";
import { evoweb, notYes, parseScore, startEvoweb } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-resume-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// A mutant that breaks things on both sides of the kill, so that equal scores say something.
const RUN = ["run", "--apps", "1", "--requests", "6", "--agent", "replay:forgetful"];

const traceOf = (dir: string): string => join(dir, "app-0001/trace.jsonl");
const hasVerdictOf = (dir: string, request: number): boolean => {
  try {
    const lines = readFileSync(traceOf(dir), "utf8").split("\n");
    return lines.some((line) => line.includes(`"type":"check_judged","request":${request},`));
  } catch {
    return false;
  }
};

async function killAndResume(sandbox: "docker" | "local", out: string): Promise<void> {
  const args = [...RUN, "--sandbox", sandbox, "--out", out];
  const { child, finished } = startEvoweb(args, { cwd: folder });
  await expect.poll(() => hasVerdictOf(out, 5), { timeout: 540_000, interval: 100 }).toBe(true);
  child.kill("SIGKILL");
  await finished;
  const before = (await readFile(traceOf(out), "utf8")).split("\n").filter(Boolean);
  const resumed = await evoweb([...args, "--resume", out], { cwd: folder });
  expect(resumed.stderr).not.toContain("evoweb:");
  expect(resumed.code).toBe(0);
  const after = (await readFile(traceOf(out), "utf8")).split("\n").filter(Boolean);
  // What was written before the kill stands as it was (the torn last line aside), and nothing was judged twice.
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  const verdicts = after.flatMap((line) => {
    const event = JSON.parse(line) as Record<string, unknown>;
    return event["type"] === "check_judged" ? [`${String(event["request"])}.${String(event["check"])}`] : [];
  });
  expect(new Set(verdicts).size).toBe(verdicts.length);
}

async function expectSameScore(killed: string, whole: string): Promise<void> {
  const [a, b] = await Promise.all([killed, whole].map((dir) => evoweb(["score", dir, "--json"], { cwd: folder })));
  const [killedScore, wholeScore] = [parseScore(a?.stdout ?? ""), parseScore(b?.stdout ?? "")];
  expect(killedScore.apps).toEqual(wholeScore.apps);
  expect(killedScore.run).toEqual(wholeScore.run);
  expect(notYes(killed)).toEqual(notYes(whole));
  expect(notYes(whole).length).toBeGreaterThan(0);
}

test("a local run killed in request 5 and resumed ends with the scores of an undisturbed one, and leaves nothing", async () => {
  const killed = join(folder, "killed");
  const whole = join(folder, "whole");
  const undisturbed = evoweb([...RUN, "--sandbox", "local", "--out", whole], { cwd: folder });
  await killAndResume("local", killed);
  expect((await undisturbed).code).toBe(0);
  await expectSameScore(killed, whole);
  const cleaned = await evoweb(["clean", "--json"], { cwd: folder });
  expect(cleaned.code).toBe(0);
  // The next start has removed what the kill left; a clean-up by hand finds nothing of it.
  expect((await readdir(killed)).includes("lock.json")).toBe(false);
});

test("what would change the results cannot be changed on resume, and is named", async () => {
  const out = join(folder, "options");
  const run = ["run", "--agent", "noop", "--sandbox", "local", "--apps", "1", "--requests", "1", "--out", out];
  expect((await evoweb(run, { cwd: folder })).code).toBe(0);
  const changed = await evoweb(["run", "--resume", out, "--isolation", "request"], { cwd: folder });
  expect(changed.code).toBe(2);
  expect(changed.stderr).toContain('isolation is "check" in the run and "request" now');
  const faster = await evoweb(["run", "--resume", out, "--workers", "1"], { cwd: folder });
  expect(faster.code).toBe(0);
});

describeWithDocker("docker", () => {
  test("a docker run killed in request 5 and resumed ends with the scores of a local one, and no container is left", async () => {
    const killed = join(folder, "killed-docker");
    await killAndResume("docker", killed);
    const whole = join(folder, "whole-local");
    await evoweb([...RUN, "--sandbox", "local", "--out", whole], { cwd: folder });
    await expectSameScore(killed, whole);
  });
});
