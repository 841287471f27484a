import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAppTrace } from "../../src/runner/app-trace.ts";
import { endLostTurns } from "../../src/runner/lost-turns.ts";
import { readTrace } from "../../src/trace/reader.ts";
import { openTraceWriter } from "../../src/trace/writer.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "evoweb-lost-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const call = (attempt: number, inputTokens: number): string =>
  JSON.stringify({
    attempt,
    hasOutput: true,
    usage: { inputTokens, cachedInputTokens: 0, outputTokens: 1 },
    costUsd: 0.5,
    latencyMs: 20,
  });

test("a turn that a kill cut is ended once, with what its calls took; a torn line is no call", () => {
  const path = join(dir, "trace.jsonl");
  using writer = openTraceWriter(path);
  const mask = (text: string): string => text;
  const trace = createAppTrace({ dir, sampleIndex: 1, fence: 1, writer, mask, listen: () => {} });
  trace.emit(1, { type: "request_started", request: 1, input: { origin: "row", sha256: "0" } });
  trace.emit(2, { type: "request_started", request: 1, input: { origin: "row", sha256: "0" } });
  mkdirSync(join(dir, "request-01"));
  writeFileSync(join(dir, "request-01/llm-calls.jsonl"), `${call(1, 10)}\n${call(1, 30)}\n${call(2, 7)}\n{"att`);
  const lost = endLostTurns(trace, readTrace(path, 1).events);
  expect(lost.map(({ usage, costUsd }) => [usage?.calls, usage?.inputTokens, costUsd])).toEqual([
    [2, 40, 1],
    [1, 7, 0.5],
  ]);
  const events = readTrace(path, 1).events;
  expect(events.filter(({ type }) => type === "agent_finished").map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(endLostTurns(trace, events)).toEqual([]);
});
