import type { FiredLimit, Usage } from "../trace/event.ts";
import type { AtifStep } from "../trace/atif.ts";
import type { Outcome } from "./outcome.ts";
import type { RequestAccount } from "./gateway/gateway.ts";
import type { Place } from "./sandbox.ts";

/** What an agent is opened with: one row's workspace, for the whole sequence of requests. */
export interface AgentContext {
  readonly rowId: string;
  /** The agent's workspace; the only thing of evoweb that it can reach. */
  readonly place: Place;
  /** Fixed text about the workspace and how the app will be served; says nothing of checks, verdicts or later requests. */
  readonly preamble: string;
  readonly limits: AgentLimits;
  /** The way to the model; null for agents that need none or bring their own. */
  readonly model: AgentModel | null;
  /** "continue": one conversation for all requests, as a user would have it; "fresh": a new one for each. */
  readonly session: "continue" | "fresh";
}

/** A model as an agent reaches it. */
export interface AgentModel {
  /** Id as the endpoint knows it. */
  readonly name: string;
  /** Address inside the place, without the version: "/v1/chat/completions" and its like follow. */
  readonly url: string;
  /** Opens the gateway and nothing else. */
  readonly apiKey: string;
  /** What the gateway saw of the current request so far; null when it is off. */
  readonly account: () => RequestAccount | null;
  /** Asks the gateway from the host, for agents whose loop runs here. Absent when the gateway is off. */
  readonly ask?: (path: string, body: unknown, signal: AbortSignal) => Promise<ModelAnswer>;
}

/** An HTTP answer of the model's endpoint. */
export interface ModelAnswer {
  readonly status: number;
  readonly text: string;
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
  /** How the conversation ended; absent for agents that have none. */
  readonly outcome?: Outcome;
  /** How often the agent was told to go on. */
  readonly nudges?: number;
  /** What it said and did, as far as its own output tells; the steps' ids are given later. */
  readonly steps?: readonly AtifStep[];
}

/** One conversation over the whole sequence. */
export interface AgentSession extends AsyncDisposable {
  /** Lets the agent work on one request. Throws only when the harness or the sandbox failed, never for the agent's failures. */
  handle(input: RequestInput, signal: AbortSignal): Promise<Turn>;
}

/** What an agent needs of its image, on top of evoweb's own. */
export interface AgentLayer {
  /** Dockerfile lines that run as root. Registries and certificates of this machine are set as variables while they run. */
  readonly dockerfile: readonly string[];
  /** Variables of the image. */
  readonly env?: Readonly<Record<string, string>>;
  /** A command that must succeed in the built image, as the user of agents. */
  readonly selfTest: readonly [string, ...string[]];
}

/** A coding agent, as the runner sees it. */
export interface Agent {
  /** The name given on the command line, such as "replay:forgetful". */
  readonly name: string;
  /** True when it runs commands that nobody has read: it then never runs without isolation unless asked to. */
  readonly runsGeneratedCommands: boolean;
  /** Version of the program that is driven; absent for agents that are part of evoweb. */
  readonly version?: string;
  /** Whether it can go on with a conversation in a later request; absent: it has none. */
  readonly canContinue?: boolean;
  /** Whether it needs a model (`--model`) and, unless it brings its own, a way to one. */
  readonly needsModel?: boolean;
  /** What an image must have to run it; absent: the sandbox's own image suffices. */
  readonly layer?: AgentLayer;
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
