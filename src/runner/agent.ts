import type { FiredLimit, Usage } from "../trace/event.ts";
import type { Place } from "./sandbox.ts";

/** What an agent is opened with: one row's workspace, for the whole sequence of requests. */
export interface AgentContext {
  readonly rowId: string;
  /** The agent's workspace; the only thing of evoweb that it can reach. */
  readonly place: Place;
  /** Fixed text about the workspace and how the app will be served; says nothing of checks, verdicts or later requests. */
  readonly preamble: string;
  readonly limits: AgentLimits;
}

/** Bounds of one request. */
interface AgentLimits {
  /** Wall time of one turn. */
  readonly timeoutMs: number;
  /** Bytes kept of what the agent prints; the rest is counted. */
  readonly maxOutputBytes: number;
}

/** What the agent is given at one request. */
export interface RequestInput {
  /** 1-based. */
  readonly request: number;
  /** The request's text, byte for byte. */
  readonly text: string;
}

/** What the agent did for one request. How well is for the judge to say; why it ended is said here. */
export interface Turn {
  /** "completed", or a class of `FAILURE_CLASSES.agent`. */
  readonly status: string;
  /** True as soon as any answer for this request came; null when nobody can know. */
  readonly responded: boolean | null;
  readonly exitCode: number | null;
  /** The agent's last words to the user; null when it said nothing. */
  readonly reply: string | null;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly limit?: FiredLimit;
  /** What it printed, bounded; stored as evidence. */
  readonly log: string;
}

/** One conversation over the whole sequence. */
export interface AgentSession extends AsyncDisposable {
  /** Lets the agent work on one request. Throws only when the harness or the sandbox failed, never for the agent's failures. */
  handle(input: RequestInput, signal: AbortSignal): Promise<Turn>;
}

/** A coding agent, as the runner sees it. */
export interface Agent {
  /** The name given on the command line, such as "replay:forgetful". */
  readonly name: string;
  /** True when it runs commands that nobody has read: it then never runs without isolation unless asked to. */
  readonly runsGeneratedCommands: boolean;
  open(context: AgentContext): Promise<AgentSession>;
}

/** The turn of an agent that needs no model: it answered, said nothing and cost nothing that could be measured. */
export const SILENT_TURN: Turn = {
  status: "completed",
  responded: true,
  exitCode: null,
  reply: null,
  usage: null,
  costUsd: null,
  log: "",
};
