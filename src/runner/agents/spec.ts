import type { AtifStep } from "../../trace/atif.ts";
import type { AgentLayer } from "../agent.ts";
import type { Outcome } from "../outcome.ts";
import type { CommandResult } from "../sandbox.ts";

/**
 * Everything that differs from one coding agent to the next, when it is driven as one process per message. An agent is one
 * file that exports a spec, and one line in `table.ts`; docs/agents.md goes through one.
 */
export interface AgentSpec {
  /** As given to `--agent`. */
  readonly name: string;
  /** Pinned exactly: an unpinned one is another agent next month. */
  readonly version: string;
  /** Whether a later process can go on with an earlier conversation; otherwise only `--session fresh` is possible. */
  readonly canContinue: boolean;
  readonly layer: AgentLayer;
  /** Files to put below `stateRoot` before the process starts, by relative path: settings, drivers. Default: none. */
  files?(turn: AgentTurn): Readonly<Record<string, string>>;
  command(turn: AgentTurn): AgentCommand;
  /** Reads what the process printed. Throws nothing: what it cannot read is null. */
  read(result: CommandResult): AgentReport;
}

/** What a process is started for: one message to the agent. */
export interface AgentTurn {
  /** 1-based. */
  readonly request: number;
  /** What the agent is told, whole. */
  readonly prompt: string;
  /** Whether a new conversation begins. */
  readonly isFirst: boolean;
  /** A UUID that stays the same for the whole conversation, for agents that let us choose its id. */
  readonly ownSessionId: string;
  /** The id that the agent reported before, for agents that choose it themselves; null when it has not. */
  readonly agentSessionId: string | null;
  /** HOME of the process: settings and sessions go here. It is saved with every request and never part of the app. */
  readonly stateRoot: string;
  /** The workspace; also the working directory. */
  readonly workspace: string;
  readonly model: AgentTurnModel;
  /** Time left for the request. */
  readonly timeoutMs: number;
}

/** The model of a turn. */
export interface AgentTurnModel {
  readonly name: string;
  /** Without the version, as Anthropic's clients want it. */
  readonly url: string;
  /** With "/v1", as OpenAI's clients want it. */
  readonly openaiUrl: string;
  /** A placeholder; also in the variables LLM_API_KEY, OPENAI_API_KEY and ANTHROPIC_API_KEY. */
  readonly apiKey: string;
}

/** How a process is started. */
interface AgentCommand {
  readonly argv: readonly [string, ...string[]];
  /** Added to HOME, the keys, CI=1 and TERM=dumb. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: nothing; it is always closed. */
  readonly stdin?: string;
}

/** What an agent's own output says of a message. */
export interface AgentReport {
  /** Null when it does not say; then the gateway's record and the exit code decide. */
  readonly outcome: Outcome | null;
  /** Its last words to the user; null when there were none. */
  readonly finalText: string | null;
  /** Tools it called; null when it does not say. */
  readonly toolCalls: number | null;
  /** Id of the conversation, where the agent chooses it. */
  readonly sessionId?: string;
  /** What it said and did, without the user's message; `step_id` is set later. */
  readonly steps?: readonly AtifStep[];
}
