import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rejudged } from "../../src/index.ts";
import { evoweb, notYes, type Finished, type ScoreDocument } from "./evoweb.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-judge-"));
  const args = ["--agent", "replay:000001-code-taken-twice", "--apps", "1", "--requests", "2"];
  const { code, stderr } = await evoweb(["run", "--sandbox", "local", "--out", "source", ...args], { cwd: folder });
  expect(`${stderr.slice(-2000)}\n${code}`).toMatch(/\n0$/u);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Document = Rejudged & { readonly score: ScoreDocument };

async function judge(...args: readonly string[]): Promise<Document> {
  const result = await evoweb(["judge", "source", "--json", ...args], { cwd: folder });
  expect(`${result.stderr.slice(-2000)}\n${result.code}`).toMatch(/\n0$/u);
  return JSON.parse(result.stdout) as Document;
}

const failed = (name: string): readonly string[] => notYes(join(folder, name));
const events = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(join(folder, name, "app-0001/trace.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a check that is judged again twice gets the same verdict; the rest is carried over, and a judged run can be ruled on again from its evidence", async () => {
  const again = await judge("--only", "no,partial", "--repeats", "2", "--out", "again");
  expect(failed("source")).toHaveLength(1);
  expect(again.changes).toMatchObject({ judged: 1, carried: 10, changed: [], flips: { checks: 1, rate: 0 } });
  expect(new Set(failed("again"))).toEqual(new Set(failed("source")));
  const passes = events("again").filter(({ type, verdict }) => type === "check_judged" && verdict !== "YES");
  expect(passes.map(({ pass }) => pass)).toEqual([2, 3]);
  expect(events("again").filter(({ type }) => type === "agent_finished")).toHaveLength(2);
  const judges = events("again").flatMap(({ type, judge: by }) => (type === "check_judged" ? [by] : []));
  expect(new Set(judges.map((by) => JSON.stringify(by))).size).toBe(1);
  const run = JSON.parse(readFileSync(join(folder, "again/run.json"), "utf8")) as { source: { path: string } };
  expect(run.source.path).toBe(join(folder, "source"));

  const ruled = await judge("--from", "evidence", "--out", "ruled", "--sandbox", "local");
  expect(ruled.changes).toMatchObject({ judged: 11, carried: 0, changed: [] });
  expect(failed("ruled")).toEqual(failed("source"));
  expect(ruled.score.run.grade).toBe(again.score.run.grade);
});

test("a sweep of each snapshot says what its budget left out and touches no score", async () => {
  const each = await judge("--sweep", "each", "--sweep-budget", "2", "--out", "each");
  expect(each.swept).toHaveLength(1);
  expect(each.swept[0]).toMatchObject({ sampleIndex: 1, snapshot: 2, touched: [1] });
  expect(each.swept[0]?.chosen).toHaveLength(2);
  expect(each.swept[0]?.leftOut).toHaveLength(4);
  expect(events("each").filter(({ sweep, snapshot }) => sweep === true && snapshot === 2)).toHaveLength(2);
  expect(events("each").filter(({ sweep }) => sweep === undefined).length).toBe(events("source").length);
});

test("nothing is written over, and what cannot be done is said", async () => {
  const refused = async (...args: readonly string[]): Promise<Finished> => evoweb(["judge", ...args], { cwd: folder });
  const occupied = await refused("source", "--from", "evidence", "--out", "source");
  expect(occupied).toMatchObject({ code: 2, stderr: expect.stringContaining("already holds a run") as unknown });
  const sweep = await refused("source", "--from", "evidence", "--sweep", "final");
  expect(sweep).toMatchObject({ code: 2, stderr: expect.stringContaining("--sweep looks at apps") as unknown });
  const app = await refused("source", "--apps", "7", "--from", "evidence");
  expect(app).toMatchObject({ code: 2, stderr: expect.stringContaining('--apps "7"') as unknown });
});
