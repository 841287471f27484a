import { EvowebError } from "../errors.ts";
import { readRunFolder } from "../trace/run-folder.ts";
import type { Agent } from "./agent.ts";
import { ensureAgentImage } from "./docker/agent-image.ts";
import type { SandboxImage } from "./docker/images.ts";
import type { RunEnvironment } from "./environment.ts";
import { Meter } from "./gateway/meter.ts";
import type { Upstreams } from "./gateway/upstream.ts";
import type { RunOptions } from "./options.ts";

/** What decides how an agent gets to a model and where it runs. */
export interface AgentNeeds {
  readonly options: RunOptions;
  readonly agent: Agent;
  readonly environment: RunEnvironment;
}

/**
 * The endpoints that agents may use, and the count of what they took so far. Throws `EvowebError("usage")` when the agent
 * needs one and there is none.
 */
export function openModels({
  options,
  agent,
  environment,
  resume,
}: AgentNeeds & { readonly resume: string | undefined }): {
  readonly upstreams: Upstreams;
  readonly runMeter: Meter;
} {
  const upstreams = environment.agentEndpoints ?? {};
  const isNeeded = agent.needsModel === true && options.gateway === "on";
  if (isNeeded && upstreams.openai === undefined && upstreams.anthropic === undefined) {
    throw new EvowebError(
      "usage",
      `--agent ${agent.name} needs a model's endpoint and key: set OPENAI_API_KEY (and OPENAI_BASE_URL), ANTHROPIC_API_KEY, ` +
        "or EVOWEB_AGENT_BASE_URL and EVOWEB_AGENT_API_KEY",
    );
  }
  const runMeter = new Meter();
  if (isNeeded && resume !== undefined) {
    for (const { effort } of readRunFolder(resume).apps.values()) {
      const { calls, inputTokens, outputTokens, costUsd } = effort.spent.agent;
      const usage = { calls: calls ?? 0, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
      runMeter.resume({ usage, costUsd });
    }
  }
  return { upstreams, runMeter };
}

/** The image of the agent's places, built on first use; null when the sandbox's own (or the user's) does. */
export async function openAgentImage(
  needs: AgentNeeds & {
    readonly sandbox: "docker" | "local";
    readonly say: (line: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<SandboxImage | null> {
  const { agent, options, environment, say, signal } = needs;
  const { name, layer } = agent;
  if (layer === undefined) return null;
  if (needs.sandbox === "local") {
    say(`${name} is not installed for local runs: the one in the PATH is used, whatever its version`);
    return null;
  }
  if (options.image !== undefined) return null;
  const { dockerHost, baseImage } = environment;
  return ensureAgentImage(
    { name, layer },
    {
      ...(dockerHost === undefined ? {} : { dockerHost }),
      ...(baseImage === undefined ? {} : { base: baseImage }),
      ...(options.caFile === undefined ? {} : { caFile: options.caFile }),
      onLine: say,
      signal,
    },
  );
}
