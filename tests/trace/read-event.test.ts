import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TraceEvent } from "../../src/trace/event.ts";
import type { TraceFact } from "../../src/trace/event.ts";
import { readEvent } from "../../src/trace/read-event.ts";
import { judged, makeEvent, ranRequest } from "./sample-events.ts";

const facts: TraceFact[] = [
  { type: "app_started", rowHash: "0" },
  ...ranRequest(1, ["YES"]),
  {
    ...judged(1, 0, "NO"),
    class: "wrong_behaviour",
    sweep: true,
    snapshot: 2,
    usage: { calls: 1, inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 },
    costUsd: 0.5,
    rules: { legacy: "YES" },
    judge: { name: "oracle", hash: "0" },
    evidence: [{ path: "a", sha256: "b" }],
  },
  { type: "app_down", request: 1, class: "start_crash", evidence: { exitCode: 1 } },
  {
    type: "agent_finished",
    request: 1,
    status: "time_limit",
    responded: null,
    exitCode: null,
    reply: { path: "reply.txt", sha256: "0" },
    usage: null,
    costUsd: null,
    durationMs: 5,
    limit: { clock: "wall_ms", value: 6, max: 5, scope: "app" },
    leftBehind: ["node server.js"],
    outcome: "timeout",
    nudges: 1,
    blockedHosts: ["a.example:443"],
    llmCalls: { path: "llm-calls.jsonl", sha256: "0" },
    trajectory: { path: "trajectory.json", sha256: "0" },
  },
  {
    type: "workspace_committed",
    request: 1,
    sha: "0",
    tree: "0",
    files: 1,
    integrity: { canaryHits: 0, judgeFilesSeen: ["oracles/1.ts"], verdict: "touched" },
  },
  { type: "app_finished", status: "stopped", cause: "infra" },
];

const ODD: readonly unknown[] = [
  undefined,
  null,
  -1,
  0,
  1.5,
  Infinity,
  2 ** 53,
  "",
  "YES",
  true,
  [],
  [1],
  {},
  { path: 1 },
  { calls: -1 },
];

function paths(value: unknown, prefix: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [[...prefix, key], ...paths(part, [...prefix, key])]);
}

function change(value: unknown, [key, ...rest]: readonly string[], odd: unknown): unknown {
  if (key === undefined) return odd;
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) };
  copy[key] = change(copy[key], rest, odd);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

describe("reading events by hand", () => {
  it("accepts every kind the schema has", () => {
    const types = new Set(facts.map(({ type }) => type));
    expect([...types].toSorted()).toEqual(TraceEvent.options.map(({ shape }) => shape.type.value).toSorted());
    for (const fact of facts) {
      expect(readEvent(makeEvent(fact))).toEqual({ status: "event", event: makeEvent(fact), unknownFields: 0 });
    }
  });

  it("knows every field that the schema has, so that none of our own is counted as unknown", () => {
    for (const { shape } of TraceEvent.options) {
      const shown = facts
        .filter(({ type }) => type === shape.type.value)
        .flatMap((fact) => Object.keys(makeEvent(fact)));
      expect([...new Set(shown)].toSorted()).toEqual(Object.keys(shape).toSorted());
    }
  });

  it("agrees with the schema on any single odd value", () => {
    const changed = fc.constantFrom(...facts).chain((fact) => {
      const event = makeEvent(fact);
      const names = paths(event).filter(([name]) => name !== "v" && name !== "type");
      return fc
        .tuple(fc.constantFrom(...names), fc.constantFrom(...ODD))
        .map(([path, odd]) => change(event, path, odd));
    });
    fc.assert(
      fc.property(changed, (value) => {
        const reading = readEvent(value as Record<string, unknown>);
        expect(reading.status === "event").toBe(TraceEvent.safeParse(value).success);
      }),
      { numRuns: 3000 },
    );
  });
});
