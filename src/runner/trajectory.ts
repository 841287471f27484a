import { ATIF_VERSION, AtifTrajectory } from "../trace/atif.ts";
import type { Turn } from "./agent.ts";
import type { RequestAccount } from "./gateway/gateway.ts";
import type { TurnWatch } from "./turn-watch.ts";

/** What a trajectory is made from. */
export interface TrajectorySource {
  readonly turn: Turn;
  readonly account: RequestAccount | null;
  readonly watch: TurnWatch;
  readonly trajectoryId: string;
}

/** One turn as an ATIF document, with the gateway's totals; null for agents that tell no steps. */
export function trajectoryOf({ turn, account, watch, trajectoryId }: TrajectorySource): AtifTrajectory | null {
  const { steps = [], outcome, nudges, status } = turn;
  if (steps.length === 0) return null;
  const { name, version, model } = watch.agent;
  const { inputTokens, outputTokens, cachedInputTokens, calls } = account?.usage ?? {};
  return AtifTrajectory.parse({
    schema_version: ATIF_VERSION,
    trajectory_id: trajectoryId,
    agent: { name, version, ...(model === null ? {} : { model_name: model }) },
    steps: steps.map((step, index) => ({ ...step, step_id: index + 1 })),
    final_metrics: {
      total_prompt_tokens: inputTokens,
      total_completion_tokens: outputTokens,
      total_cached_tokens: cachedInputTokens,
      total_cost_usd: account?.costUsd ?? undefined,
      total_steps: steps.length,
      extra: { evoweb: { calls, countedBy: account === null ? "nobody" : "gateway" } },
    },
    extra: { evoweb: { outcome, nudges, status } },
  });
}
