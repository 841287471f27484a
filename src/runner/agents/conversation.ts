import type { AtifStep } from "../../trace/atif.ts";
import type { Agent, AgentContext, AgentModel, AgentSession, RequestInput, Turn } from "../agent.ts";
import { EvowebError } from "../../errors.ts";
import { classifyEnding, type Outcome } from "../outcome.ts";
import { NUDGE, timeLeft } from "../preamble.ts";
import type { ProcessEnd } from "../sandbox.ts";

const MAX_NUDGES = 2;
const LOOK_TIMEOUT_MS = 60_000;

/** A message to an agent. */
export interface Message {
  readonly request: number;
  readonly prompt: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came of a message. */
export interface Said {
  /** What the agent's own events say; null when they say nothing. */
  readonly outcome: Outcome | null;
  readonly finalText: string | null;
  readonly toolCalls: number | null;
  readonly exitCode: number | null;
  readonly how: ProcessEnd["how"];
  readonly log: string;
  readonly steps?: readonly AtifStep[];
}

/** A conversation with an agent that works in a place. */
export interface Conversation extends AsyncDisposable {
  /** Whether nothing was said in it so far, by what the agent itself has kept. */
  isNew(): Promise<boolean>;
  /** Says something and waits until the agent has done its work. Throws only when the place or the harness failed. */
  say(message: Message): Promise<Said>;
}

/** A context with the model that the agent was promised. */
export type ModelContext = AgentContext & { readonly model: AgentModel };

/** The parts of an agent that talks to a model. */
export interface ModelAgentParts extends Pick<Agent, "name" | "version" | "layer"> {
  readonly canContinue: boolean;
  readonly converse: (context: ModelContext) => Conversation;
}

/** An agent that is told each request in words; preamble, time left, nudges and classes are the same for all of them. */
export function createModelAgent(parts: ModelAgentParts): Agent {
  const { name, version, layer, canContinue, converse } = parts;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(layer === undefined ? {} : { layer }),
    runsGeneratedCommands: true,
    needsModel: true,
    canContinue,
    async open(context) {
      const { model } = context;
      if (model === null) throw new EvowebError("usage", `--agent ${name} needs a model: name one with --model`);
      return openSession({ ...context, model }, converse({ ...context, model }), canContinue);
    },
  };
}

function openSession(context: ModelContext, conversation: Conversation, canContinue: boolean): AgentSession {
  return {
    async handle(input, signal) {
      if (context.session === "fresh") await context.place.replaceState(null);
      return handle(context, conversation, { input, signal, maxNudges: canContinue ? MAX_NUDGES : 0 });
    },
    [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
  };
}

interface Handling {
  readonly input: RequestInput;
  readonly signal: AbortSignal;
  readonly maxNudges: number;
}

async function handle(context: ModelContext, conversation: Conversation, handling: Handling): Promise<Turn> {
  const { limits, model, preamble } = context;
  const { input, signal, maxNudges } = handling;
  const { request } = input;
  const endsAt = performance.now() + limits.timeoutMs;
  const text = `${input.text}\n\n${timeLeft(limits.timeoutMs)}`;
  const steps: AtifStep[] = [];
  const logs: string[] = [];
  await markWorkspace(context);
  let prompt = (await conversation.isNew()) ? `${preamble}\n\n${text}` : text;
  for (let nudges = 0; ; nudges += 1) {
    const timeoutMs = Math.max(1000, Math.round(endsAt - performance.now()));
    steps.push({ step_id: 1, source: "user", message: prompt, timestamp: new Date().toISOString() });
    const said = await conversation.say({ request, prompt, timeoutMs, signal });
    signal.throwIfAborted();
    steps.push(...stepsOf(said, model.name));
    logs.push(said.log);
    const { outcome, ...ended } = classifyEnding({ ...said, reported: said.outcome, account: model.account() });
    const isIdle =
      nudges < maxNudges && (outcome === "answered" || outcome === "empty") && (await didNothing(context, said));
    if (isIdle) {
      prompt = NUDGE;
      continue;
    }
    const limit =
      outcome === "timeout" ? { clock: "wall_ms", value: limits.timeoutMs, max: limits.timeoutMs } : ended.limit;
    return {
      status: ended.status,
      responded: ended.responded,
      exitCode: said.exitCode,
      reply: said.finalText,
      usage: null,
      costUsd: null,
      ...(limit === undefined ? {} : { limit }),
      log: logs.join("\n"),
      outcome,
      nudges,
      steps,
    };
  }
}

/** An agent whose steps are not known has said at least its last words. */
function stepsOf({ steps, finalText }: Said, modelName: string): readonly AtifStep[] {
  if (steps !== undefined && steps.length > 0) return steps;
  return finalText === null ? [] : [{ step_id: 1, source: "agent", message: finalText, model_name: modelName }];
}

const MARK = ".evoweb-turn";

/** A file whose time says when the turn began. */
async function markWorkspace({ place }: AgentContext): Promise<void> {
  const argv = ["/bin/sh", "-c", `mkdir -p "$1" && : > "$1/${MARK}"`, "mark", place.stateRoot] as const;
  await place.exec({ argv, timeoutMs: LOOK_TIMEOUT_MS });
}

/** Whether the agent called no tool and no file or folder of the workspace has changed since the turn began. */
async function didNothing({ place }: AgentContext, { toolCalls }: Said): Promise<boolean> {
  if (toolCalls !== null && toolCalls > 0) return false;
  const argv = ["find", ".", "-cnewer", `${place.stateRoot}/${MARK}`, "-print", "-quit"] as const;
  const { exitCode, stdout } = await place.exec({ argv, timeoutMs: LOOK_TIMEOUT_MS });
  return exitCode === 0 && stdout.text === "";
}
