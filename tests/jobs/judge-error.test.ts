import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { judgeErrorLines, withJudgeError } from "../../src/jobs/judge-error.ts";
import type { ScoredSource } from "../../src/report/score-source.ts";
import { scoreObserved } from "../../src/scoring/score.ts";
import { SAMPLE_RUN } from "../trace/sample-events.ts";

function sourceJudgedBy(name: string): ScoredSource {
  const observed = { rows: [], apps: new Map(), isolation: null, observation: null } as const;
  const run = { ...SAMPLE_RUN, provenance: { ...SAMPLE_RUN.provenance, judge: { name, hash: "0" } } };
  const score = scoreObserved(observed);
  return { path: "run", kind: "run", run, rows: [], score, observed, effort: null, startTimes: [], notes: [] };
}

function linesOf(name: string, calibration?: string, sensitivity = false): readonly string[] {
  return judgeErrorLines(withJudgeError(sourceJudgedBy(name), { calibration, sensitivity }), calibration);
}

it("names the largest calibration of the run's judge and browser, or says that there is none", () => {
  const dir = mkdtempSync(join(tmpdir(), "evoweb-calibration-"));
  try {
    expect(linesOf("evidence", dir)[0]).toContain("none in");
    const write = (name: string, checks: number, hash: string): void => {
      const judge = { name: "evidence", hash, browser: null };
      const falseYes = { rate: 0.25, low: 0.1, high: 0.5 };
      writeFileSync(join(dir, name), JSON.stringify({ judge, checks, falseYes, falseNo: { rate: null } }));
    };
    write("a.json", 8, "0");
    write("b.json", 4, "0");
    write("c.json", 99, "other");
    const known = `Calibration  ${join(dir, "a.json")}: false YES 25.0%, false NO n/a over 8 checks`;
    expect(linesOf("evidence", dir)).toEqual([known]);
    const [first, range, ...assumptions] = linesOf("evidence", dir, true);
    expect(first).toBe(known);
    expect(range).toContain("Grade n/a");
    expect(assumptions).toHaveLength(4);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

it("a model judge whose error nobody named has none that is known; an oracle needs none", () => {
  expect(linesOf("webvoyager")).toEqual([expect.stringContaining("is not known here")]);
  expect(linesOf("oracle")).toEqual([]);
  expect(withJudgeError(sourceJudgedBy("evidence"), { sensitivity: false }).judgeError).toEqual({ calibration: null });
});
