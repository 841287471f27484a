import { expect, test } from "vitest";
import { createRunBudget } from "../../src/runner/run-budget.ts";
import type { TraceEvent } from "../../src/trace/event.ts";

const common = { v: 1, time: "2026-12-01T00:00:00.000Z", attempt: 1, fence: 1 } as const;

function check(sampleIndex: number, tokens: number, costUsd: number): TraceEvent {
  const usage = { inputTokens: tokens, outputTokens: 0, calls: 1 };
  const verdict = { verdict: "YES", cause: "judged", tries: 1, durationMs: 1 } as const;
  return {
    ...common,
    sampleIndex,
    type: "check_judged",
    request: 1,
    check: 0,
    pass: 1,
    ...verdict,
    evidence: [],
    usage,
    costUsd,
  };
}
const finished = (sampleIndex: number): TraceEvent => ({
  ...common,
  sampleIndex,
  type: "app_finished",
  status: "complete",
});

test("what an app is expected to take is reserved before it begins, and given back when it ends", () => {
  const budget = createRunBudget({ budgetUsd: 10 }, () => 0);
  expect(budget.admit(1)).toBeNull();
  expect(budget.forecast()).toBeNull();
  [check(1, 100, 3), finished(1)].forEach((event) => budget.note(event));
  budget.release(1);
  expect(budget.forecast()).toEqual({ usd: 3, tokens: 100, ms: 0 });
  expect(budget.admit(2)).toBeNull();
  expect(budget.admit(3)).toBeNull();
  expect(budget.admit(4)).toContain("12.0000 US dollars are expected, 10 may be spent");
  expect(budget.stopCause()).toBeNull();
  // App 2 was cheaper than expected, so there is room for another one.
  [check(2, 100, 0.5), finished(2)].forEach((event) => budget.note(event));
  budget.release(2);
  expect(budget.admit(4)).toBeNull();
});

test("an app under way stops before its next request once the money or the tokens are gone", () => {
  const budget = createRunBudget({ budgetTokens: 150 }, () => 0);
  budget.note(check(1, 100, 0));
  expect(budget.stopCause()).toBeNull();
  budget.note(check(1, 60, 0));
  expect(budget.stopCause()).toBe("budget: 160 of 150 tokens are used");
  expect(budget.admit(2)).toBe("budget: 160 of 150 tokens are used");
});

test("no app begins that is not expected to end before the deadline", () => {
  let nowMs = 0;
  const budget = createRunBudget({ deadlineMs: 1000 }, () => nowMs);
  budget.note({
    ...common,
    sampleIndex: 1,
    type: "request_finished",
    request: 1,
    durationMs: 600,
    starts: 1,
    startMs: 1,
    browserMs: 1,
  });
  budget.note(finished(1));
  expect(budget.admit(2)).toBeNull();
  nowMs = 500;
  expect(budget.admit(3)).toContain("an app takes about 600 ms");
  nowMs = 1000;
  expect(budget.stopCause()).toContain("deadline of 1000 ms has passed");
});
