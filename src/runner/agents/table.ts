import type { Agent } from "../agent.ts";
import { createBuiltinAgent } from "./builtin.ts";
import { piAgent } from "./pi.ts";
import { createProcessAgent } from "./process-agent.ts";
import type { AgentSpec } from "./spec.ts";

/** Agents that run as one process per message: one file and one line each. */
const SPECS: readonly AgentSpec[] = [piAgent];

/** Every agent that talks to a model, by its name on the command line. */
export function modelAgents(): ReadonlyMap<string, Agent> {
  const agents = [createBuiltinAgent(), ...SPECS.map(createProcessAgent)];
  return new Map(agents.map((agent) => [agent.name, agent] as const));
}
