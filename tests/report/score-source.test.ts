import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scoreDocuments } from "../../src/report/score-json.ts";
import { scorePaths } from "../../src/report/score-source.ts";
import type { ScoredSource } from "../../src/report/score-source.ts";
import { renderScore } from "../../src/report/score-table.ts";
import { makeEvent, ranRequest, tinyRows, toJsonl } from "../trace/sample-events.ts";
import { temporaryFolder } from "../trace/temporary-folder.ts";
import { five, writeRun, writeTrace } from "./run-fixture.ts";

async function scoreOne(path: string, rows?: string): Promise<ScoredSource> {
  const [source] = await scorePaths([path], rows);
  if (source === undefined) throw new Error("nothing was scored");
  return source;
}

const text = (source: ScoredSource): string => renderScore(source, { useColor: false });
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe("a run folder", () => {
  it("that is whole has a headline and no notes", async () => {
    using folder = temporaryFolder();
    const source = await scoreOne(writeRun(join(folder.path, "r"), tinyRows(2, 3), times(2, times(3, five("YES")))));
    expect(source.score.run).toMatchObject({ complete: true, grade: 100, survival: 3, apr: [4, 4], br: [4, 4] });
    expect(source.notes).toEqual([]);
    expect(text(source)).toContain("6 of 6 requests ran\n");
    expect(text(source)).not.toContain("INCOMPLETE");
  });

  it("B91: two apps never ran and one stopped, which stands at the top", async () => {
    using folder = temporaryFolder();
    const whole = times(10, five("YES"));
    const dir = writeRun(join(folder.path, "r"), tinyRows(5, 10), [whole, whole, whole.slice(0, 4), null, null]);
    const source = await scoreOne(dir);
    expect(source.score.run).toMatchObject({ complete: false, planned: 50, requestsRun: 24, grade: 48 });
    const lines = text(source).split("\n");
    expect(lines[3]).toBe("24 of 50 requests ran; missing: apps 4, 5; requests 5-10 of app 3");
    expect(lines[4]).toMatch(/^INCOMPLETE: these numbers are no headline/);
  });

  it("B89: 80 of 100 planned and 80 of 90 judged are both shown, and the run is incomplete", async () => {
    using folder = temporaryFolder();
    const verdicts = [...times(8, five("YES")), five("NO"), five("MISSING")];
    const dir = writeRun(join(folder.path, "r"), tinyRows(10, 10), times(10, verdicts));
    const source = await scoreOne(dir);
    expect(source.score.run).toMatchObject({ complete: false, requestsRun: 100, missing: [40, 410] });
    expect(source.score.run.side).toMatchObject({ passedOfPlanned: [400, 500], passedOfJudged: [400, 450] });
    expect(text(source)).toMatch(/80\.0% +\(400\/500\) +YES of planned checks \(the headline rate\)/);
    expect(text(source)).toMatch(/88\.9% +\(400\/450\) +YES of judged checks; 50 not judged/);
    expect(text(source)).toMatch(/50 +MISSING +judge_error/);
  });

  it("B89: none judged, and nothing at all, give no impossible rate", async () => {
    using folder = temporaryFolder();
    const none = writeRun(join(folder.path, "none"), tinyRows(2, 2), times(2, times(2, five("MISSING"))));
    const empty = writeRun(join(folder.path, "empty"), [], []);
    for (const source of await scorePaths([none, empty])) {
      expect(source.score.run.complete).toBe(false);
      expect(text(source)).not.toMatch(/NaN|Infinity|undefined|null/);
    }
    expect(text(await scoreOne(empty))).toContain("nothing was planned and nothing ran");
  });

  it("B83: after a resume all work counts, and the days between do not", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(2, 3), times(2, times(3, five("YES"))));
    for (const time of ["2026-01-01T00:00:00.000Z", "2026-01-05T00:00:00.000Z"]) {
      appendFileSync(join(dir, "events.jsonl"), toJsonl([{ v: 1, time, type: "run_started", options: {} }]));
    }
    const source = await scoreOne(dir);
    expect(source.effort?.counted.agent).toMatchObject({
      count: 6,
      inputTokens: 6000,
      outputTokens: 600,
      durationMs: 360_000,
    });
    expect(text(source)).toContain("Work     6m 00s of turns and judging");
    expect(text(source)).toContain("6 turns, 6m 00s, 6,600 tokens, $0.06");
    expect(text(source)).toContain("resumed once: 2026-01-05T00:00:00.000Z");
  });

  it("B82: doubles change no number, and are said", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(1, 3), [times(3, five("YES"))]);
    const before = await scoreOne(dir);
    const path = join(dir, "app-0001", "trace.jsonl");
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    appendFileSync(path, `${lines.slice(-10).join("\n")}\n`);
    const after = await scoreOne(dir);
    expect({ ...after.score, effort: after.effort }).toEqual({ ...before.score, effort: before.effort });
    expect(text(after)).toContain("app-0001/trace.jsonl: 10 exact doubles ignored");
  });

  it("B76: a torn trace is scored up to the tear, and the turn is missing, not failed", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(1, 2), [times(2, five("YES"))]);
    const path = join(dir, "app-0001", "trace.jsonl");
    writeFileSync(path, readFileSync(path).subarray(0, -30));
    const source = await scoreOne(dir);
    expect(source.score.run).toMatchObject({ complete: false, requestsRun: 1, grade: 100 });
    expect(text(source)).toContain("1 of 2 requests ran; missing: request 2 of app 1");
    expect(text(source)).toMatch(/app-0001\/trace\.jsonl line \d+: the last record was cut off and is lost/);
  });

  it("retries that do not count are told as spent", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(1, 1), [[five("YES")]]);
    const second = ranRequest(1, five("NO")).map((fact) => makeEvent(fact, { attempt: 2 }));
    appendFileSync(join(dir, "app-0001", "trace.jsonl"), toJsonl(second));
    const printed = text(await scoreOne(dir));
    expect(printed).toContain("Counted  1 turn,");
    expect(printed).toContain("Spent    2 turns,");
  });

  it("gives the same bytes each time", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(2, 3), times(2, times(3, five("PARTIAL"))));
    const once = JSON.stringify(scoreDocuments(await scorePaths([dir])));
    expect(JSON.stringify(scoreDocuments(await scorePaths([dir])))).toBe(once);
    expect(Object.keys(JSON.parse(once) as object)).toEqual([
      "definition",
      "apps",
      "run",
      "effort",
      "startTimes",
      "notes",
    ]);
  });
});

describe("single files", () => {
  it("a trace in a run folder is scored by the rows of that run", async () => {
    using folder = temporaryFolder();
    const dir = writeRun(join(folder.path, "r"), tinyRows(2, 2), [null, times(2, five("YES"))]);
    const source = await scoreOne(join(dir, "app-0002", "trace.jsonl"));
    expect(source).toMatchObject({
      kind: "trace",
      score: { apps: [{ sampleIndex: 2, id: "000002" }], run: { grade: 100 } },
    });
    expect(source.score.run).toMatchObject({ complete: true, isolation: "check" });
  });

  it("a trace elsewhere needs rows, and the message says so", async () => {
    using folder = temporaryFolder();
    const path = writeTrace(folder.path, 1, ranRequest(1, five("YES")));
    await expect(scorePaths([path])).rejects.toThrow(/--rows FILE/);
    const rows = join(folder.path, "rows.jsonl");
    writeFileSync(rows, toJsonl(tinyRows(1, 1).map(({ row }) => row.raw)));
    expect((await scoreOne(path, rows)).score.run.grade).toBe(100);
  });

  it("verdicts about an app the rows do not have are refused", async () => {
    const vectors = new URL("../fixtures/vectors/", import.meta.url).pathname;
    using folder = temporaryFolder();
    const rows = join(folder.path, "rows.jsonl");
    writeFileSync(rows, toJsonl(tinyRows(1, 1).map(({ row }) => row.raw)));
    await expect(scorePaths([join(vectors, "verdicts.jsonl")], rows)).rejects.toThrow(/is about app 2/);
  });

  it("an empty file is a run without anything", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "empty.jsonl");
    writeFileSync(path, "");
    const vectors = new URL("../fixtures/vectors/", import.meta.url).pathname;
    expect((await scoreOne(path, join(vectors, "rows.jsonl"))).score).toMatchObject({
      apps: [],
      run: { complete: false },
    });
  });

  it("what is none of the three is wrong usage", async () => {
    using folder = temporaryFolder();
    const usage = expect.objectContaining({ code: "usage" }) as unknown;
    await expect(scorePaths([join(folder.path, "absent")])).rejects.toEqual(usage);
    await expect(scorePaths([folder.path])).rejects.toEqual(usage);
  });
});
