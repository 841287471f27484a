import { expect, test } from "vitest";
import { scoreObserved } from "../../src/scoring/score.ts";
import { scoreWebgen } from "../../src/scoring/webgen.ts";
import type { Verdict } from "../../src/trace/event.ts";
import type { AppObservations, Observation } from "../../src/trace/observations.ts";
import { makeRow } from "./observed-arbitrary.ts";

const rows = [{ sampleIndex: 1, row: makeRow(1) }];

function observe(observations: readonly Observation[]): ReadonlyMap<number, AppObservations> {
  const checks = new Map(observations.map((observation, check) => [check, observation] as const));
  const request = { state: "run", responded: null, up: true, checks } as const;
  return new Map([[1, { sampleIndex: 1, requests: new Map([[1, request]]), sweep: null }]]);
}

function ruled(legacy: Verdict, strict: Verdict, cause = "judged"): Observation {
  return { verdict: strict, cause, rules: { legacy, strict } };
}

test("each check counts once under either rule, and those nobody saw stay in the denominator", () => {
  const apps = observe([
    ruled("YES", "NO"),
    ruled("PARTIAL", "PARTIAL"),
    ruled("NO", "MISSING", "infra"),
    ruled("MISSING", "MISSING", "app_down"),
    ruled("MISSING", "MISSING", "judge_error"),
  ]);
  expect(scoreWebgen(rows, apps)).toEqual({
    legacy: { yes: 1, partial: 1, no: 1, startFailed: 3, total: 6, accuracy: (100 * (1 + 0.5 * 1)) / 6 },
    strict: { yes: 0, partial: 1, no: 1, startFailed: 1, unjudged: 3, total: 6, accuracy: (100 * 0.5) / 6 },
  });
});

test("a run that was not judged by both rules has no such score", () => {
  const apps = observe([{ verdict: "YES", cause: "judged" }]);
  expect(scoreWebgen(rows, apps)).toBeNull();
  expect(scoreObserved({ rows, apps, isolation: null, observation: null }).run).not.toHaveProperty("webgen");
});
