// What a run will take, from an earlier run or else from rough defaults that say that they are none.
import { join } from "node:path";
import { openDataset } from "../dataset/open-dataset.ts";
import { choosePace } from "../runner/app-slots.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import type { RunOptions } from "../runner/options.ts";
import { planRows } from "../runner/plan-rows.ts";
import { resolveOptions } from "../runner/resolve-options.ts";
import { sourceOf } from "../runner/row-source.ts";
import type { TraceEvent } from "../trace/event.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName, readRunFolder } from "../trace/run-folder.ts";

/** What one turn or one judgement takes. */
interface Rate {
  readonly calls: number;
  readonly tokens: number;
  /** Null where no price is known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
}

/** What a run is expected to take; the document of `evoweb estimate --json`. */
export interface RunEstimate {
  readonly apps: number;
  readonly requests: number;
  readonly checks: number;
  readonly appsAtOnce: number;
  readonly agent: Rate;
  readonly judge: Rate;
  /** Expected wall time. */
  readonly wallMs: number;
  /** What the numbers rest on. */
  readonly basis: { readonly kind: "run" | "defaults"; readonly text: string };
}

/** What to estimate. */
export interface EstimateRequest {
  readonly given: Partial<RunOptions>;
  /** An earlier run of the same kind. */
  readonly like?: string | undefined;
  readonly environment: RunEnvironment;
}

interface Rates {
  readonly turn: Rate;
  readonly judgement: Rate;
}

const FREE: Rate = { calls: 0, tokens: 0, costUsd: 0, durationMs: 1000 };
// Orders of magnitude of coding agents and judges on small web apps; nothing to plan money by.
const TURN: Rate = { calls: 25, tokens: 400_000, costUsd: null, durationMs: 300_000 };
const JUDGEMENT: Rate = { calls: 8, tokens: 40_000, costUsd: null, durationMs: 40_000 };
const ORACLE_MS = 3000;

/** Says what a run with these options is expected to take. Throws as `resolveOptions`, `openDataset` and `readRunFolder`. */
export async function estimateRun({ given, like, environment }: EstimateRequest): Promise<RunEstimate> {
  const options = resolveOptions({ given });
  const dataset = await openDataset(options.dataset, sourceOf(options, null, { environment }));
  const rows = planRows(dataset.apps, options.requests);
  const all = rows.flatMap(({ row }) => row.requests);
  const checks = all.reduce((sum, request) => sum + request.checks.length, 0);
  const { turn, judgement } = like === undefined ? defaultRates(options) : ratesOf(like);
  const waitsForModel = turn.calls > 0;
  const appsAtOnce = Math.min(choosePace(options, { waitsForModel, apps: rows.length }).workers, rows.length);
  const agent = times(turn, all.length);
  const judge = times(judgement, checks);
  return {
    apps: rows.length,
    requests: all.length,
    checks,
    appsAtOnce,
    agent,
    judge,
    wallMs: Math.round(agent.durationMs / appsAtOnce + judge.durationMs / options.checksAtOnce),
    basis:
      like === undefined
        ? { kind: "defaults", text: "rough defaults, measured on nothing of yours; name an earlier run with --like" }
        : { kind: "run", text: `means over the turns and judgements of ${like}` },
  };
}

function times({ calls, tokens, costUsd, durationMs }: Rate, count: number): Rate {
  const cost = costUsd === null ? null : costUsd * count;
  return {
    calls: Math.round(calls * count),
    tokens: Math.round(tokens * count),
    costUsd: cost,
    durationMs: Math.round(durationMs * count),
  };
}

function defaultRates({ agent, judgeModel }: RunOptions): Rates {
  const asksNoModel = agent === "noop" || agent === "replay" || agent.startsWith("replay:");
  const oracle = { ...FREE, durationMs: ORACLE_MS };
  return { turn: asksNoModel ? FREE : TURN, judgement: judgeModel === undefined ? oracle : JUDGEMENT };
}

type Work = Extract<TraceEvent, { type: "agent_finished" | "check_judged" }>;

function ratesOf(dir: string): Rates {
  const { rows } = readRunFolder(dir);
  const events = rows.flatMap(
    ({ sampleIndex }) => readTrace(join(dir, appDirName(sampleIndex), "trace.jsonl"), sampleIndex).events,
  );
  const work = events.filter(
    (event): event is Work => event.type === "agent_finished" || event.type === "check_judged",
  );
  return {
    turn: meanOf(work.filter(({ type }) => type === "agent_finished")),
    judgement: meanOf(work.filter(({ type }) => type === "check_judged")),
  };
}

function meanOf(work: readonly Work[]): Rate {
  const mean = (of: (event: Work) => number): number =>
    work.length === 0 ? 0 : work.reduce((sum, event) => sum + of(event), 0) / work.length;
  const isUnpriced = work.some(({ usage, costUsd }) => (usage?.calls ?? 0) > 0 && (costUsd ?? null) === null);
  return {
    calls: mean(({ usage }) => usage?.calls ?? 0),
    tokens: mean(({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)),
    costUsd: isUnpriced ? null : mean(({ costUsd }) => costUsd ?? 0),
    durationMs: mean(({ durationMs }) => durationMs ?? 0),
  };
}
