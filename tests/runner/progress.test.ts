import { expect, test } from "vitest";
import { progressOf } from "../../src/runner/progress.ts";
import type { TraceEvent } from "../../src/trace/event.ts";

const base = { v: 1, time: "2026-01-01T00:00:00.000Z", sampleIndex: 1, fence: 1 } as const;
const started = (request: number, attempt = 1): TraceEvent => ({
  ...base,
  type: "request_started",
  request,
  attempt,
  input: { origin: "row", sha256: "" },
});
const committed = (request: number, attempt = 1): TraceEvent => ({
  ...base,
  type: "workspace_committed",
  request,
  attempt,
  sha: "a",
  tree: "b",
  files: 1,
});
const judged = (check: number, cause = "judged", attempt = 1): TraceEvent => ({
  ...base,
  type: "check_judged",
  request: 1,
  attempt,
  check,
  pass: 1,
  verdict: cause === "infra" ? "MISSING" : "YES",
  cause,
  tries: 1,
  usage: null,
  durationMs: 1,
  evidence: [],
});
const finished = (request: number, attempt = 1): TraceEvent => ({
  ...base,
  type: "request_finished",
  request,
  attempt,
  durationMs: 1,
  starts: 1,
  startMs: 1,
  browserMs: 1,
});

test("an app without events starts with the first turn of request 1", () => {
  expect(progressOf([], 10)).toEqual({
    fence: 0,
    isComplete: false,
    missing: [],
    next: { request: 1, attempt: 1, stage: "agent", judged: new Set(), pass: 1 },
  });
});

test("a turn without a stored snapshot is done again as the next attempt", () => {
  const { next } = progressOf([started(1), committed(1), finished(1), started(2)], 10);
  expect(next).toMatchObject({ request: 2, attempt: 2, stage: "agent" });
});

test("a stored snapshot is not asked for again: only checks without a verdict are judged, those lost to infra too", () => {
  const { next } = progressOf([started(1), committed(1), judged(0), judged(2, "infra")], 10);
  expect(next).toEqual({ request: 1, attempt: 1, stage: "judge", judged: new Set([0]), pass: 2 });
});

test("only the last attempt of a request counts", () => {
  const { next } = progressOf([started(1), started(1, 2), committed(1, 2), judged(0, "judged", 2)], 10);
  expect(next).toMatchObject({ attempt: 2, stage: "judge", judged: new Set([0]) });
});

test("nothing is next when every request is finished, and the fence is the highest seen", () => {
  const events = [started(1), committed(1), finished(1)].map((event) => ({ ...event, fence: 3 }));
  expect(progressOf(events, 1)).toEqual({ fence: 3, isComplete: false, missing: [], next: null });
});

test("what has no verdict in finished requests is named for a new pass; what a later pass decided is not", () => {
  const events = [started(1), committed(1), judged(0), judged(1, "infra"), judged(2, "infra"), finished(1)];
  expect(progressOf(events, 1).missing).toEqual([
    { request: 1, attempt: 1, stage: "judge", judged: new Set([0]), pass: 2 },
  ]);
  const again = [...events, { ...judged(1), pass: 2 }, { ...judged(2, "infra"), pass: 2 }];
  expect(progressOf(again, 1).missing).toEqual([
    { request: 1, attempt: 1, stage: "judge", judged: new Set([0, 1]), pass: 3 },
  ]);
  const noOracle = { ...judged(0, "no_oracle"), verdict: "MISSING" as const };
  expect(progressOf([started(1), committed(1), noOracle, finished(1)], 1).missing).toEqual([]);
});
