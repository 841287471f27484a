import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseRow } from "../src/dataset/parse-row.ts";
import type { Row } from "../src/dataset/row.ts";
import type { TraceFact } from "../src/trace/event.ts";
import { appDirName, createRunFolder, openRunEvents } from "../src/trace/run-folder.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const REQUESTS = 10;

function makeRow(id: string): Row {
  const check = (request: number, index: number): Record<string, unknown> => ({
    kind: "feature",
    task: `On the list of app ${id}, open entry ${index} of request ${request}, change its amount to ${request * 7 + index} and save it.`,
    expected_result: `The total above the list is recomputed at once, and entry ${index} shows the new amount after a reload.`,
    task_category: { primary_category: "Functional Testing", subcategories: ["Form Operations"] },
  });
  return parseRow({
    id,
    instruction: `Build app ${id}: a ledger with a list, a form and a total. ${"It must survive a reload. ".repeat(12)}`,
    Category: { primary_category: "Data Management", subcategories: ["Ledger"] },
    application_type: "Ledger",
    ui_instruct: Array.from({ length: 6 }, (_, index) => check(1, index)),
    follow_ups: Array.from({ length: REQUESTS - 1 }, (_, index) => ({
      archetype: "derived-state",
      instruction: `Now add step ${index + 2}. ${"Keep what is there as it is. ".repeat(10)}`,
      source_website: "none",
      source_feature: "none",
      ui_instruct: [
        ...Array.from({ length: 4 }, (_, position) => check(index + 2, position)),
        { ...check(index + 1, index % 4), copied_from_request: index + 1 },
      ],
    })),
    dependency_graph: {
      nodes: Array.from({ length: REQUESTS }, (_, index) => ({
        id: `R${index + 1}`,
        label: `Step ${index + 1}`,
        archetype: "x",
      })),
      edges: Array.from({ length: REQUESTS - 1 }, (_, index) => ({
        from: `R${index + 1}`,
        to: `R${index + 2}`,
        what: "entries",
      })),
    },
    global_rules: [1, 2, 3].map((request) => ({ rule: "Amounts have two decimals.", introduced_in_request: request })),
    pinned_seed: { entity: "entry", introduced_in_request: 1, records_gist: "three entries" },
  });
}

function requestFacts(request: number, checks: number): TraceFact[] {
  const dir = `request-${String(request).padStart(2, "0")}`;
  return [
    { type: "request_started", request, input: { origin: "row", sha256: sha(dir) } },
    {
      type: "agent_finished",
      request,
      status: "completed",
      responded: true,
      exitCode: 0,
      reply: { path: `${dir}/reply.txt`, sha256: sha(dir) },
      usage: { inputTokens: 120_345, outputTokens: 4321, calls: 31 },
      costUsd: 0.4321,
      durationMs: 182_345,
    },
    { type: "workspace_committed", request, sha: sha("a").slice(24), tree: sha("b").slice(24), files: 23 },
    { type: "app_up", request, startMs: 812, status: 200, port: 41_234, command: "npm run dev" },
    ...Array.from({ length: checks }, (_, check): TraceFact => {
      const path = `${dir}/checks/${check}`;
      const isYes = (request * 31 + check * 17) % 11 > 1;
      return {
        type: "check_judged",
        request,
        check,
        pass: 1,
        verdict: isYes ? "YES" : "NO",
        cause: "judged",
        ...(isYes ? {} : { class: "wrong_behaviour" }),
        tries: 1,
        usage: null,
        durationMs: 2345,
        evidence: [
          { path: `${path}/steps.jsonl`, sha256: sha(path) },
          { path: `${path}/verdict.webp`, sha256: sha(`${path}w`) },
        ],
      };
    }),
    { type: "request_finished", request, durationMs: 201_234, starts: checks, startMs: 812, browserMs: 9876 },
  ];
}

function traceText(sampleIndex: number, row: Row): string {
  const common = { v: 1, time: "2026-01-01T12:34:56.789Z", sampleIndex };
  const facts: TraceFact[] = [
    { type: "app_started", rowHash: sha(row.id) },
    ...row.requests.flatMap(({ number, checks }) => requestFacts(number, checks.length)),
    { type: "app_finished", status: "complete" },
  ];
  return facts.map((fact) => `${JSON.stringify({ ...common, attempt: 1, fence: 1, ...fact })}\n`).join("");
}

/** Writes run folders of `appsEach` apps with 51 checks until there are at least `checkCount` checks; returns the folders. */
export function generateRuns(root: string, checkCount: number, appsEach: number): readonly string[] {
  const dirs: string[] = [];
  for (let checks = 0; checks < checkCount; checks += appsEach * 51) {
    const dir = join(root, `run-${dirs.length + 1}`);
    const rows = Array.from({ length: appsEach }, (_, index) => {
      return { sampleIndex: index + 1, row: makeRow(String(index + 1).padStart(6, "0")) };
    });
    createRunFolder(dir, RUN, rows);
    using events = openRunEvents(dir);
    events.append({ type: "run_started", options: { workers: 2 } });
    for (const { sampleIndex, row } of rows) {
      mkdirSync(join(dir, appDirName(sampleIndex)));
      writeFileSync(join(dir, appDirName(sampleIndex), "trace.jsonl"), traceText(sampleIndex, row));
    }
    dirs.push(dir);
  }
  return dirs;
}

const RUN: Parameters<typeof createRunFolder>[1] = {
  schemaVersion: 1,
  runId: "bench",
  suite: { name: "evoweb", version: "1" },
  repeat: { index: 1, of: 1 },
  isolation: "check",
  observation: "locf",
  options: {},
  provenance: {
    evoweb: { version: "0.0.0", commit: null },
    dataset: { name: "generated", revision: null, contentHash: "0" },
    agent: { name: "replay" },
    judge: { name: "oracle", hash: "0" },
    browser: null,
    engine: null,
    imageDigest: null,
    host: { cores: 2, memoryBytes: 1 },
  },
};
