import type { SampledRow } from "../dataset/row.ts";
import { appDirName } from "../trace/run-folder.ts";
import type { Agent, AgentModel } from "./agent.ts";
import { askGateway, openAppGateway } from "./agent-gateway.ts";
import { CanaryWatch } from "./canaries.ts";
import type { Gateway } from "./gateway/gateway.ts";
import type { Meter } from "./gateway/meter.ts";
import type { Upstreams } from "./gateway/upstream.ts";
import { limitsOf } from "./limits.ts";
import { endLostTurns } from "./lost-turns.ts";
import { openAppJudging, type SharedJudging } from "./open-app-judging.ts";
import type { RunOptions } from "./options.ts";
import { preambleFor } from "./preamble.ts";
import { evowebVersion } from "./provenance.ts";
import { progressOf } from "./progress.ts";
import type { AppRun } from "./run-app.ts";
import type { RunBudget } from "./run-budget.ts";
import type { Place } from "./sandbox.ts";

/** What all apps of a run share. */
export interface Shared extends SharedJudging {
  readonly agent: Agent;
  /** Image of the agent's places; absent: the sandbox's own. */
  readonly agentImage?: string;
  readonly upstreams: Upstreams;
  /** What the run may take, and what it has taken. */
  readonly budget: RunBudget;
  readonly retryMissing: boolean;
  /** Counts the model use of all apps. */
  readonly runMeter: Meter;
  /** Absolute paths of the judge's files. */
  readonly judgePaths: readonly string[];
}

/** Opens one app's folder, trace and snapshots, and claims it with a fence above all earlier ones. */
export async function openAppRun(shared: Shared, sampled: SampledRow): Promise<AppRun & AsyncDisposable> {
  const { options, agent, sandbox, signal, mask, installTargets } = shared;
  const { sampleIndex, row } = sampled;
  const app = await openAppJudging(shared, sampled);
  const canaries = new CanaryWatch({ row, judgePaths: shared.judgePaths, preamble: preambleFor("") });
  const hasGateway = agent.needsModel === true && options.gateway === "on";
  const inspect = (body: string): void => canaries.lookAtBody(body);
  const gateway = hasGateway
    ? openAppGateway({ ...shared, dir: app.trace.dir, events: app.events, mask, inspect })
    : null;
  if (gateway !== null) {
    for (const turn of endLostTurns(app.trace, app.events)) {
      gateway.appMeter.resume(turn);
      shared.runMeter.resume(turn);
    }
  }
  return {
    sampled,
    progress: progressOf(app.events, row.requests.length),
    store: app.store,
    trace: app.trace,
    watch: {
      gateway,
      canaries,
      agent: { name: agent.name, version: agent.version ?? evowebVersion().version, model: options.model ?? null },
      hasOwnPrograms: agent.runsGeneratedCommands,
      hasState: agent.needsModel === true,
    },
    observation: options.observation,
    retryMissing: shared.retryMissing,
    stopCause: () => shared.budget.stopCause(),
    signal,
    openWorkspace: () =>
      sandbox.open({
        label: `${appDirName(sampleIndex)}-agent`,
        limits: limitsOf(options),
        egress: { allow: installTargets },
        ...(gateway === null ? {} : { gateway: gateway.server }),
        ...(shared.agentImage === undefined ? {} : { image: shared.agentImage }),
      }),
    openSession: (place) =>
      agent.open({
        rowId: row.id,
        place,
        preamble: preambleFor(place.root),
        limits: { timeoutMs: options.agentTimeoutMs, maxOutputBytes: 1024 * 1024 },
        model: modelOf(options, place, gateway),
        session: options.session,
      }),
    judging: app.judging,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

function modelOf({ model }: RunOptions, place: Place, gateway: Gateway | null): AgentModel | null {
  if (model === undefined) return null;
  // An agent with a way of its own to a model ignores address and key.
  if (gateway === null || place.gatewayUrl === null) return { name: model, url: "", apiKey: "", account: () => null };
  return {
    name: model,
    url: place.gatewayUrl,
    apiKey: gateway.placeholderKey,
    account: () => gateway.account(),
    ask: askGateway(gateway),
  };
}
