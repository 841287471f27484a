import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { appDirName, createRunFolder, openRunEvents, readRunFolder, readRunPlan } from "../../src/trace/run-folder.ts";
import { openTraceWriter } from "../../src/trace/writer.ts";
import { makeEvent, ranRequest, SAMPLE_RUN, tinyRows } from "./sample-events.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describe("a run folder", () => {
  it("gives back what was planned and what happened", () => {
    using folder = temporaryFolder();
    const dir = join(folder.path, "r1");
    createRunFolder(dir, SAMPLE_RUN, tinyRows(2, 2));
    {
      using events = openRunEvents(dir);
      events.append({ type: "run_started", options: { workers: 2 } });
      mkdirSync(join(dir, appDirName(2)));
      using writer = openTraceWriter(join(dir, appDirName(2), "trace.jsonl"));
      for (const fact of ranRequest(1, ["YES"])) writer.append(makeEvent(fact, { sampleIndex: 2 }));
      events.append({ type: "run_finished" });
    }
    const read = readRunFolder(dir);
    expect(read.run).toEqual(SAMPLE_RUN);
    expect(read.rows.map(({ sampleIndex, row }) => [sampleIndex, row.id])).toEqual([
      [1, "000001"],
      [2, "000002"],
    ]);
    expect([...read.apps.keys()]).toEqual([2]);
    expect(read.apps.get(2)?.observations.requests.get(1)).toMatchObject({ state: "run", up: true, responded: true });
    expect(read.runEvents.map(({ type }) => type)).toEqual(["run_started", "run_finished"]);
  });

  it("is refused where a run or anything else is already", () => {
    using folder = temporaryFolder();
    const dir = join(folder.path, "r1");
    createRunFolder(dir, SAMPLE_RUN, tinyRows(1, 1));
    expect(() => createRunFolder(dir, SAMPLE_RUN, [])).toThrow(/already holds a run.*--resume/);
    const other = join(folder.path, "other");
    mkdirSync(other);
    writeFileSync(join(other, "notes.txt"), "mine");
    expect(() => createRunFolder(other, SAMPLE_RUN, [])).toThrow(expect.objectContaining({ code: "usage" }));
    expect(readFileSync(join(other, "notes.txt"), "utf8")).toBe("mine");
  });

  it("names what is wrong with run.json", () => {
    using folder = temporaryFolder();
    expect(() => readRunPlan(folder.path)).toThrow(/has no run\.json/);
    writeFileSync(join(folder.path, "run.json"), JSON.stringify({ ...SAMPLE_RUN, schemaVersion: 99 }));
    expect(() => readRunPlan(folder.path)).toThrow(/version 99; this evoweb reads version 1\. Update evoweb/);
    writeFileSync(join(folder.path, "run.json"), JSON.stringify({ ...SAMPLE_RUN, isolation: "none" }));
    expect(() => readRunPlan(folder.path)).toThrow(/isolation/);
    writeFileSync(join(folder.path, "run.json"), "{");
    expect(() => readRunPlan(folder.path)).toThrow(/is no JSON/);
  });

  it("does not guess a plan from rows that were cut off", () => {
    using folder = temporaryFolder();
    const dir = join(folder.path, "r1");
    createRunFolder(dir, SAMPLE_RUN, tinyRows(2, 1));
    const path = join(dir, "rows.jsonl");
    writeFileSync(path, readFileSync(path).subarray(0, -20));
    expect(() => readRunPlan(dir)).toThrow(/rows\.jsonl line 2/);
  });
});
