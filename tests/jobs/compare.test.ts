import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compareRuns } from "../../src/jobs/compare.ts";
import { renderComparison } from "../../src/report/comparison-table.ts";
import type { Verdict } from "../../src/trace/event.ts";
import { five, writeRun } from "../report/run-fixture.ts";
import { tinyRows } from "../trace/sample-events.ts";
import { temporaryFolder } from "../trace/temporary-folder.ts";

type Turns = readonly (readonly (readonly Verdict[])[] | null)[];
const good = [five("YES"), five("YES")];
const bad = [five("NO"), five("NO")];
const half = [five("YES"), five("NO")];

/** Parts of a run.json that tests change. */
interface RunText {
  repeat: { index: number; of: number };
  isolation: string;
  observation: string;
  options: Record<string, unknown>;
  provenance: { agent: { name: string }; judge: { name: string; hash: string } };
}

function makeRun(dir: string, turns: Turns, change: (run: RunText) => void = () => undefined): string {
  writeRun(dir, tinyRows(turns.length, 2), turns);
  const run = JSON.parse(readFileSync(join(dir, "run.json"), "utf8")) as RunText;
  change(run);
  writeFileSync(join(dir, "run.json"), JSON.stringify(run));
  return dir;
}

const repeat =
  (index: number, of: number, agent = "one") =>
  (run: RunText): void => {
    run.repeat = { index, of };
    run.provenance.agent.name = agent;
  };

describe("comparing runs", () => {
  it("pairs the apps, tests every exchange and adjusts the headline metrics", async () => {
    using folder = temporaryFolder();
    const a = makeRun(join(folder.path, "a"), [bad, bad, half, bad]);
    const b = makeRun(join(folder.path, "b"), [good, good, good, half]);
    const comparison = await compareRuns([a, b]);
    const [pair] = comparison.pairs;
    expect(pair).toMatchObject({ a: "A", b: "B", apps: [1, 2, 3, 4], isHeadline: true });
    const survival = pair?.metrics.find(({ metric }) => metric === "survival");
    expect(survival?.countedAsNo).toMatchObject({ apps: 4, a: 0.25, b: 1.75, difference: 1.5 });
    // Gains of 2, 2, 1 and 1: as large a mean only with no side or all sides exchanged.
    expect(survival?.countedAsNo.test).toEqual({ p: 2 / 16, isExact: true, exchanges: 16, dropped: 0 });
    expect(survival?.countedAsNo.adjustedP).toBeGreaterThan(2 / 16);
    expect(survival?.countedAsNo.interval?.low).toBeGreaterThan(0);
    expect(pair?.metrics.find(({ metric }) => metric === "tp")?.countedAsNo.adjustedP).toBeNull();
    const lines = renderComparison(comparison, { useColor: false }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.join("\n")).toMatch(/Survival +either +4 +0\.25 +1\.75 +\+1\.50 /);
    expect((await compareRuns([a, b])).pairs).toEqual(comparison.pairs);
  });

  it.each([
    ["judge", (run: RunText) => void (run.provenance.judge.hash = "1")],
    ["limits", (run: RunText) => void (run.options["agentTimeoutMs"] = 1)],
    ["isolation", (run: RunText) => void (run.isolation = "request")],
    ["observation", (run: RunText) => void (run.observation = "sweep")],
  ])("refuses a differing %s, and says it loudly when told to go on", async (kind, change) => {
    using folder = temporaryFolder();
    const a = makeRun(join(folder.path, "a"), [good, bad]);
    const b = makeRun(join(folder.path, "b"), [good, half], change);
    await expect(compareRuns([a, b])).rejects.toMatchObject({
      code: "trace",
      message: expect.stringContaining(kind) as string,
    });
    const forced = await compareRuns([a, b], { allowMismatch: true });
    expect(forced).toMatchObject({ isForced: true, pairs: [{ isHeadline: false }] });
    expect(forced.mismatches).toContainEqual(expect.objectContaining({ kind, isFatal: true }));
    expect(renderComparison(forced, { useColor: false })).toContain("NOT COMPARABLE");
  });

  it("refuses another row under the same number, and pairs over shared apps only", async () => {
    using folder = temporaryFolder();
    const a = makeRun(join(folder.path, "a"), [good, bad, good]);
    const b = makeRun(join(folder.path, "b"), [good, half]);
    const shared = await compareRuns([a, b]);
    expect(shared.pairs[0]?.apps).toEqual([1, 2]);
    expect(shared.mismatches).toMatchObject([{ kind: "apps", isFatal: false }]);
    const other = writeRun(join(folder.path, "c"), tinyRows(2, 1), [[five("YES")], [five("YES")]]);
    await expect(compareRuns([a, other])).rejects.toThrow(/dataset differs/);
  });

  it("an incomplete run has no headline; both readings of MISSING are shown, and that they disagree", async () => {
    using folder = temporaryFolder();
    const lost = [five("MISSING"), five("MISSING")];
    // Counted as NO, B is worse; of the apps that nothing was lost of, B is better.
    const a = makeRun(join(folder.path, "a"), [good, good, half]);
    const b = makeRun(join(folder.path, "b"), [lost, lost, good]);
    const comparison = await compareRuns([a, b]);
    expect(comparison.sides.map(({ complete }) => complete)).toEqual([true, false]);
    const [pair] = comparison.pairs;
    expect(pair?.isHeadline).toBe(false);
    const survival = pair?.metrics.find(({ metric }) => metric === "survival");
    expect(survival?.countedAsNo).toMatchObject({ apps: 3, difference: 2 / 3 - 5 / 3 });
    expect(survival?.excluded).toMatchObject({ apps: 1, difference: 1, interval: null });
    expect(survival?.doPoliciesAgree).toBe(false);
    const text = renderComparison(comparison, { useColor: false });
    expect(text).toMatch(/The order depends on what is made of MISSING verdicts: .*Survival/);
    expect(text).toContain("(no headline)");
  });

  it("takes repeats together from a folder of runs; a lost trial is neither passed nor failed", async () => {
    using folder = temporaryFolder();
    const runs = join(folder.path, "runs");
    mkdirSync(runs);
    makeRun(join(runs, "1"), [good, bad], repeat(1, 2));
    makeRun(join(runs, "2"), [bad, [five("YES"), five("MISSING")]], repeat(2, 2));
    const other = makeRun(join(folder.path, "other"), [good, good], repeat(1, 1, "two"));
    const { sides, pairs } = await compareRuns([runs, other]);
    expect(sides.map(({ name, repeats, agent }) => [name, repeats, agent])).toEqual([
      ["A", 2, "one"],
      ["B", 1, "two"],
    ]);
    expect(sides[0]?.trials).toMatchObject({ planned: 2, missing: 1, leftOut: ["2"], avgAtK: 0.5 });
    expect(sides[0]?.trials.byK).toMatchObject([
      { k: 1, passAtK: 0.5, passHatK: 0.5, apps: 1 },
      { k: 2, passAtK: 1, passHatK: 0, apps: 1 },
    ]);
    // App 1 survives 2 and 0 requests, app 2 none and 1.
    const survival = pairs[0]?.metrics.find(({ metric }) => metric === "survival");
    expect(survival?.countedAsNo).toMatchObject({ apps: 2, a: 0.75, b: 2 });
    const alone = await compareRuns([runs]);
    expect(alone).toMatchObject({ pairs: [], sides: [{ repeats: 2 }] });
  });

  it("one run alone is wrong usage", async () => {
    using folder = temporaryFolder();
    const a = makeRun(join(folder.path, "a"), [good]);
    await expect(compareRuns([a])).rejects.toMatchObject({ code: "usage" });
  });
});
