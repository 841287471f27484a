import type { Agent } from "../agent.ts";
import { acpAgent } from "./acp.ts";
import { createBuiltinAgent } from "./builtin.ts";
import { claudeCodeAgent } from "./claude-code.ts";
import { codexAgent } from "./codex.ts";
import { opencodeAgent } from "./opencode.ts";
import { piAgent } from "./pi.ts";
import { createProcessAgent } from "./process-agent.ts";
import { qwenCodeAgent } from "./qwen-code.ts";
import type { AgentSpec } from "./spec.ts";

/** Agents that run as one process per message: one file and one line each. */
const SPECS: readonly AgentSpec[] = [piAgent, claudeCodeAgent, codexAgent, opencodeAgent, qwenCodeAgent];

/** Every agent that talks to a model, by its name on the command line. */
export function modelAgents(): ReadonlyMap<string, Agent> {
  const agents = [createBuiltinAgent(), ...SPECS.map(createProcessAgent)];
  return new Map(agents.map((agent) => [agent.name, agent] as const));
}

/** Any agent that speaks the Agent Client Protocol; throws `EvowebError("usage")` for an empty command. */
export function createAcpAgent(command: string): Agent {
  return createProcessAgent(acpAgent(command, SPECS));
}
