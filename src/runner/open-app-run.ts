import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LimitFunction } from "p-limit";
import type { SampledRow } from "../dataset/row.ts";
import type { BrowserPool } from "../judge/browser-pool.ts";
import type { Judge } from "../judge/judge.ts";
import type { TraceEvent } from "../trace/event.ts";
import type { Mask } from "../trace/mask.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName } from "../trace/run-folder.ts";
import { openTraceWriter } from "../trace/writer.ts";
import type { Agent } from "./agent.ts";
import { createAppTrace } from "./app-trace.ts";
import { limitsOf } from "./limits.ts";
import type { RunOptions } from "./options.ts";
import { preambleFor } from "./preamble.ts";
import { progressOf } from "./progress.ts";
import { snapshotDir, type AppRun } from "./run-app.ts";
import type { Sandbox } from "./sandbox.ts";
import { createServing } from "./serving.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/** What all apps of a run share. */
export interface Shared {
  readonly dir: string;
  readonly options: RunOptions;
  readonly agent: Agent;
  readonly judge: Judge | null;
  readonly sandbox: Sandbox;
  readonly pool: BrowserPool;
  /** Bounds checks in flight over all apps. */
  readonly slots: LimitFunction;
  /** Targets ("host:port") that installs may reach. */
  readonly installTargets: readonly string[];
  readonly mask: Mask;
  readonly listen: (event: TraceEvent) => void;
  readonly signal: AbortSignal;
}

/** Opens one app's folder, trace and snapshots, and claims it with a fence above all earlier ones. */
export async function openAppRun(shared: Shared, sampled: SampledRow): Promise<AppRun & AsyncDisposable> {
  const { options, agent, sandbox, signal, mask, listen } = shared;
  const { sampleIndex, row } = sampled;
  const dir = join(shared.dir, appDirName(sampleIndex));
  mkdirSync(dir, { recursive: true });
  const tracePath = join(dir, "trace.jsonl");
  const writer = openTraceWriter(tracePath, mask);
  const progress = progressOf(readTrace(tracePath, sampleIndex).events, row.requests.length);
  const store = await SnapshotStore.open(snapshotDir(dir));
  const trace = createAppTrace({ dir, sampleIndex, fence: progress.fence + 1, writer, mask, listen });
  const serving = createServing({
    sandbox,
    store,
    options,
    installTargets: shared.installTargets,
    label: appDirName(sampleIndex),
    signal,
  });
  const limits = limitsOf(options);
  return {
    sampled,
    progress,
    store,
    trace,
    observation: options.observation,
    signal,
    openWorkspace: () =>
      sandbox.open({ label: `${appDirName(sampleIndex)}-agent`, limits, egress: { allow: options.allow } }),
    openSession: (place) =>
      agent.open({
        rowId: row.id,
        place,
        preamble: preambleFor(place.root),
        limits: { timeoutMs: options.agentTimeoutMs, maxOutputBytes: 1024 * 1024 },
      }),
    judging: (snapshot) => ({
      rowId: row.id,
      judge: shared.judge,
      pool: shared.pool,
      trace,
      mask,
      isolation: options.isolation,
      checkTimeoutMs: options.checkTimeoutMs ?? shared.judge?.timeoutMs ?? 0,
      slots: shared.slots,
      prepare: () => serving.prepare(snapshot),
      start: (prepared) => serving.start(prepared),
      signal,
    }),
    async [Symbol.asyncDispose]() {
      await serving[Symbol.asyncDispose]();
      writer[Symbol.dispose]();
    },
  };
}
