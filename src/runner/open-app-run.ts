import type { SampledRow } from "../dataset/row.ts";
import { appDirName } from "../trace/run-folder.ts";
import type { Agent } from "./agent.ts";
import { limitsOf } from "./limits.ts";
import { openAppJudging, type SharedJudging } from "./open-app-judging.ts";
import { preambleFor } from "./preamble.ts";
import { progressOf } from "./progress.ts";
import type { AppRun } from "./run-app.ts";

/** What all apps of a run share. */
export interface Shared extends SharedJudging {
  readonly agent: Agent;
}

/** Opens one app's folder, trace and snapshots, and claims it with a fence above all earlier ones. */
export async function openAppRun(shared: Shared, sampled: SampledRow): Promise<AppRun & AsyncDisposable> {
  const { options, agent, sandbox, signal } = shared;
  const { sampleIndex, row } = sampled;
  const app = await openAppJudging(shared, sampled);
  const limits = limitsOf(options);
  return {
    sampled,
    progress: progressOf(app.events, row.requests.length),
    store: app.store,
    trace: app.trace,
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
    judging: app.judging,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
