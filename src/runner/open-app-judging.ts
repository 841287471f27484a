import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserPool } from "../judge/browser-pool.ts";
import type { Judge } from "../judge/judge.ts";
import type { SampledRow } from "../dataset/row.ts";
import type { TraceEvent } from "../trace/event.ts";
import type { Mask } from "../trace/mask.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName } from "../trace/run-folder.ts";
import { openTraceWriter } from "../trace/writer.ts";
import { createAppTrace, type AppTrace } from "./app-trace.ts";
import type { Slots } from "./check-slots.ts";
import type { JudgeContext } from "./judging.ts";
import type { RunOptions } from "./options.ts";
import type { Sandbox } from "./sandbox.ts";
import { createServing } from "./serving.ts";
import { SnapshotStore, type Snapshot } from "./snapshot-store.ts";

/** What all apps that are served and judged together share. */
export interface SharedJudging {
  /** Folder that holds the apps' folders. */
  readonly dir: string;
  readonly options: RunOptions;
  readonly judge: Judge | null;
  readonly sandbox: Sandbox;
  readonly pool: BrowserPool;
  /** Bounds checks in flight over all apps. */
  readonly slots: Slots;
  /** Targets ("host:port") that installs may reach. */
  readonly installTargets: readonly string[];
  readonly mask: Mask;
  readonly listen: (event: TraceEvent) => void;
  readonly signal: AbortSignal;
}

/** One app's folder: its trace, claimed for this process. */
export interface AppFolder extends Disposable {
  readonly dir: string;
  /** What stood in the trace before. */
  readonly events: readonly TraceEvent[];
  /** Writes with a fence above all earlier ones. */
  readonly trace: AppTrace;
}

/** Opens an app's folder and claims its trace. */
export function openAppFolder(
  shared: Pick<SharedJudging, "dir" | "mask" | "listen">,
  { sampleIndex }: Pick<SampledRow, "sampleIndex">,
): AppFolder {
  const { mask, listen } = shared;
  const dir = join(shared.dir, appDirName(sampleIndex));
  mkdirSync(dir, { recursive: true });
  const tracePath = join(dir, "trace.jsonl");
  const writer = openTraceWriter(tracePath, mask);
  const { events } = readTrace(tracePath, sampleIndex);
  const fence = events.reduce((highest, event) => Math.max(highest, event.fence), 0) + 1;
  return {
    dir,
    events,
    trace: createAppTrace({ dir, sampleIndex, fence, writer, mask, listen }),
    [Symbol.dispose]: () => writer[Symbol.dispose](),
  };
}

/** An app whose snapshots can be served and judged. */
export interface AppJudging extends AsyncDisposable, Omit<AppFolder, typeof Symbol.dispose> {
  readonly store: SnapshotStore;
  /** How the checks of one snapshot are judged. */
  readonly judging: (snapshot: Pick<Snapshot, "sha" | "tree">) => JudgeContext;
}

/** Opens one app's folder, trace and snapshots, with everything that serves and judges them. */
export async function openAppJudging(shared: SharedJudging, sampled: SampledRow): Promise<AppJudging> {
  const { options, sandbox, signal, mask, judge, pool, slots, installTargets } = shared;
  const { dir, events, trace, ...folder } = openAppFolder(shared, sampled);
  const store = await SnapshotStore.open(snapshotDir(dir));
  const label = appDirName(sampled.sampleIndex);
  const serving = createServing({ sandbox, store, options, installTargets, label, signal });
  return {
    dir,
    events,
    trace,
    store,
    judging: (snapshot) => ({
      rowId: sampled.row.id,
      judge,
      pool,
      trace,
      mask,
      isolation: options.isolation,
      checkTimeoutMs: options.checkTimeoutMs ?? judge?.timeoutMs ?? 0,
      slots,
      prepare: () => serving.prepare(snapshot),
      start: (prepared) => serving.start(prepared),
      signal,
    }),
    async [Symbol.asyncDispose]() {
      await serving[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Path of an app's snapshots below its folder. */
export function snapshotDir(appDir: string): string {
  return join(appDir, "workspace.git");
}
