import { parseRow } from "../../src/dataset/parse-row.ts";
import type { SampledRow } from "../../src/dataset/row.ts";
import type { TraceEvent, TraceFact, Verdict } from "../../src/trace/event.ts";
import type { RunJson } from "../../src/trace/run-json.ts";

/** Where and when an event belongs; what is absent is the first of its kind. */
export interface Place {
  readonly sampleIndex?: number;
  readonly attempt?: number;
  readonly fence?: number;
  readonly time?: string;
}

/** A whole event from a fact. */
export function makeEvent(fact: TraceFact, place: Place = {}): TraceEvent {
  const { sampleIndex = 1, attempt = 1, fence = 1, time = "2026-01-01T00:00:00.000Z" } = place;
  return { v: 1, time, sampleIndex, attempt, fence, ...fact };
}

/** A verdict as a fact. */
export function judged(request: number, check: number, verdict: Verdict): Extract<TraceFact, { type: "check_judged" }> {
  return {
    type: "check_judged",
    request,
    check,
    pass: 1,
    verdict,
    cause: verdict === "MISSING" ? "judge_error" : "judged",
    tries: 1,
    usage: null,
    durationMs: 0,
    evidence: [],
  };
}

/** A turn of 60 s, 1,100 tokens and 0.01, as the cases have it. */
export function turn(request: number): TraceFact {
  return {
    type: "agent_finished",
    request,
    status: "completed",
    responded: true,
    exitCode: 0,
    reply: null,
    usage: { inputTokens: 1000, outputTokens: 100, calls: 1 },
    costUsd: 0.01,
    durationMs: 60_000,
  };
}

/** All events of one request that ran to its end with these verdicts. */
export function ranRequest(request: number, verdicts: readonly Verdict[]): TraceFact[] {
  return [
    { type: "request_started", request, input: { origin: "row", sha256: "0" } },
    turn(request),
    { type: "workspace_committed", request, sha: "1", tree: "2", files: 1 },
    { type: "app_up", request, startMs: 5, status: 200, port: 3000, command: "node server.js" },
    ...verdicts.map((verdict, check) => judged(request, check, verdict)),
    { type: "request_finished", request, durationMs: 61_000, starts: 1, startMs: 5, browserMs: 100 },
  ];
}

/** The bytes of a trace. */
export function toJsonl(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** A raw row whose requests have five checks each, with texts that hold braces and quotes. */
function tinyRawRow(length: number, id = "000001"): Record<string, unknown> {
  const check = (request: number, index: number): Record<string, unknown> => ({
    task: `Open page ${request}.${index} and look for "}{".`,
    expected_result: `Text ${request}.${index} is shown.`,
    task_category: { primary_category: "Functional Testing", subcategories: [] },
  });
  const checks = (request: number, count: number): Record<string, unknown>[] =>
    Array.from({ length: count }, (_, index) => check(request, index));
  return {
    id,
    instruction: "Build it.",
    Category: { primary_category: "Test", subcategories: [] },
    application_type: "Test",
    ui_instruct: checks(1, 5),
    follow_ups: Array.from({ length: length - 1 }, (_, index) => ({
      archetype: "derived-state",
      instruction: "Change it.",
      source_website: "none",
      source_feature: "none",
      ui_instruct: [...checks(index + 2, 4), { ...check(index + 1, 0), copied_from_request: index + 1 }],
    })),
  };
}

/** `count` tiny rows with sample indexes from 1. */
export function tinyRows(count: number, length: number): SampledRow[] {
  return Array.from({ length: count }, (_, index) => ({
    sampleIndex: index + 1,
    row: parseRow(tinyRawRow(length, String(index + 1).padStart(6, "0"))),
  }));
}

/** A `run.json` of a local replay. */
export const SAMPLE_RUN: RunJson = {
  schemaVersion: 1,
  runId: "run-a",
  suite: { name: "evoweb", version: "1" },
  repeat: { index: 1, of: 1 },
  isolation: "check",
  observation: "locf",
  options: { agent: "replay" },
  provenance: {
    evoweb: { version: "0.1.0", commit: null },
    dataset: { name: "tiny", revision: null, contentHash: "0" },
    agent: { name: "replay" },
    judge: { name: "oracle", hash: "0" },
    browser: { version: null },
    engine: null,
    imageDigest: null,
    host: { cores: 2, memoryBytes: 4_000_000_000 },
  },
};
