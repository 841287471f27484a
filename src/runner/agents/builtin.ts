// The smallest coding agent that is useful: a model, one tool (bash), and a loop. It is also the documentation of what an
// agent is here: messages go to a model, commands go to a place, and what the model may not know never enters either.
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { AtifStep } from "../../trace/atif.ts";
import type { Agent } from "../agent.ts";
import type { Outcome } from "../outcome.ts";
import type { CommandResult } from "../sandbox.ts";
import { createModelAgent, type Conversation, type Message, type ModelContext, type Said } from "./conversation.ts";

const SYSTEM =
  "You are a coding agent. Work in the current folder with the tool bash; each call is a new shell. " +
  "Put servers in the background. When the request is done, answer with a short summary and no tool call.";
const TOOL = {
  type: "function",
  function: {
    name: "bash",
    description: "Runs a bash command and returns its exit code and output.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command." },
        timeout_s: { type: "integer", description: "Limit in seconds; default 120." },
      },
      required: ["command"],
    },
  },
};
const DEFAULT_COMMAND_S = 120;
const MAX_COMMAND_S = 1200;
const MAX_OUTPUT_BYTES = 16 * 1024;
/** Answers that heal by waiting are asked for again, so often. */
const TRIES = 4;
const FIRST_WAIT_MS = 500;
const SESSION = "builtin-session.json";

const ToolCall = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });
const Answer = z.object({
  model: z.string().optional(),
  choices: z
    .array(z.object({ message: z.object({ content: z.string().nullish(), tool_calls: z.array(ToolCall).nullish() }) }))
    .min(1),
});
const Arguments = z.object({
  command: z.string().default("true"),
  timeout_s: z.number().positive().max(MAX_COMMAND_S).default(DEFAULT_COMMAND_S),
});
const ChatMessages = z.array(z.looseObject({ role: z.string() }));
type ChatMessage = z.infer<typeof ChatMessages>[number];

/** The agent "builtin": a bash-tool loop over chat completions. The loop runs here, its commands in the place. */
export function createBuiltinAgent(): Agent {
  return createModelAgent({ name: "builtin", canContinue: true, converse });
}

function converse(context: ModelContext): Conversation {
  return {
    isNew: async () => (await load(context)).length === 0,
    say: (message) => say(context, message),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function say(context: ModelContext, message: Message): Promise<Said> {
  const messages = [...(await load(context)), { role: "user", content: message.prompt }];
  const deadline = AbortSignal.timeout(message.timeoutMs);
  const work: Work = { context, messages, steps: [], log: [], signal: AbortSignal.any([message.signal, deadline]) };
  let outcome: Outcome | null = null;
  try {
    outcome = await loop(work);
  } catch (error) {
    if (!deadline.aborted) throw error;
  }
  await save(context, messages);
  const { steps, log } = work;
  const text = steps.at(-1)?.message;
  return {
    outcome,
    finalText: typeof text === "string" && text !== "" ? text : null,
    toolCalls: steps.reduce((sum, step) => sum + (step.source === "agent" ? (step.tool_calls ?? []).length : 0), 0),
    exitCode: 0,
    how: deadline.aborted ? "timed_out" : "exited",
    log: log.join("\n"),
    steps,
  };
}

interface Work {
  readonly context: ModelContext;
  readonly messages: ChatMessage[];
  readonly steps: AtifStep[];
  readonly log: string[];
  readonly signal: AbortSignal;
}

/** Asks and acts until the model calls no tool. */
async function loop(work: Work): Promise<Outcome | null> {
  for (;;) {
    work.signal.throwIfAborted();
    const reply = await ask(work);
    if (typeof reply === "string") return reply;
    const calls = await act(work, reply);
    if (calls === 0) return null;
  }
}

/** Carries an answer's tool calls out; every call gets its result, also one that could not be read. */
async function act(work: Work, { model, choices: [choice] }: z.infer<typeof Answer>): Promise<number> {
  const content = choice?.message.content ?? "";
  const calls = (choice?.message.tool_calls ?? []).map(({ id, function: { name, arguments: raw } }) => {
    return { id, name, raw, args: readArguments(raw) };
  });
  if (content !== "") work.log.push(content);
  // Strict endpoints refuse a history with arguments that are no JSON, so a broken text goes back as an empty object.
  const said = calls.map(({ id, name, args }) => {
    return { id, type: "function", function: { name, arguments: JSON.stringify(args ?? {}) } };
  });
  work.messages.push({ role: "assistant", content, ...(said.length === 0 ? {} : { tool_calls: said }) });
  const results: { source_call_id: string; content: string }[] = [];
  for (const call of calls) {
    const result = await carryOut(work, call);
    work.log.push(`$ ${call.args?.command ?? call.raw}\n${result}`);
    results.push({ source_call_id: call.id, content: result });
    work.messages.push({ role: "tool", tool_call_id: call.id, content: result });
  }
  const done = calls.map(({ id, name, raw, args }) => {
    return { tool_call_id: id, function_name: name, arguments: args ?? { raw } };
  });
  work.steps.push({
    step_id: 1,
    source: "agent",
    message: content,
    timestamp: new Date().toISOString(),
    ...(model === undefined ? {} : { model_name: model }),
    ...(calls.length === 0 ? {} : { tool_calls: done, observation: { results } }),
  });
  return calls.length;
}

interface Call {
  readonly name: string;
  readonly args: z.infer<typeof Arguments> | null;
}

async function carryOut(work: Work, { name, args }: Call): Promise<string> {
  if (name !== TOOL.function.name) return `There is no tool "${name}"; use bash.`;
  if (args !== null) return run(work, args);
  return "The arguments could not be read as a JSON object with a command; nothing was run. Send them again.";
}

/** The model's answer, or why there is none. */
async function ask({ context: { model }, messages, log, signal }: Work): Promise<z.infer<typeof Answer> | Outcome> {
  const question = { model: model.name, messages: [{ role: "system", content: SYSTEM }, ...messages], tools: [TOOL] };
  for (let tried = 1; ; tried += 1) {
    const { status, text } = (await model.ask?.("/v1/chat/completions", question, signal)) ?? {
      status: 0,
      text: "no gateway",
    };
    if (status === 200) return parse(text) ?? "format_error";
    log.push(`the model's endpoint answered ${status}: ${text.slice(0, 500)}`);
    const heals = status === 0 || status === 429 || status >= 500;
    if (!heals || tried === TRIES) return "provider_error";
    await delay(FIRST_WAIT_MS * 2 ** (tried - 1), undefined, { signal });
  }
}

function parse(text: string): z.infer<typeof Answer> | null {
  try {
    return Answer.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Null when they cannot be read; no arguments at all count as none. */
function readArguments(raw: string): z.infer<typeof Arguments> | null {
  try {
    return Arguments.safeParse(raw.trim() === "" ? {} : JSON.parse(raw)).data ?? null;
  } catch {
    return null;
  }
}

async function run({ context: { place }, signal }: Work, args: z.infer<typeof Arguments>): Promise<string> {
  const result = await place.exec({
    argv: ["/bin/bash", "-c", args.command],
    timeoutMs: args.timeout_s * 1000,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal,
  });
  return resultText(result, args.timeout_s);
}

function resultText({ how, exitCode, stdout, stderr, detail }: CommandResult, limitS: number): string {
  const end =
    how === "timed_out" ? `stopped after ${limitS} s, with all it had started` : (detail ?? `exit code ${exitCode}`);
  return [`[${end}]`, stdout.text, stderr.text].filter((part) => part !== "").join("\n");
}

// The conversation is kept in the place, outside the workspace, so that it is saved and brought back with every request.
async function load({ place }: ModelContext): Promise<ChatMessage[]> {
  const argv = ["cat", `${place.stateRoot}/${SESSION}`] as const;
  const { exitCode, stdout } = await place.exec({ argv, timeoutMs: 60_000, maxOutputBytes: 256 * 1024 * 1024 });
  if (exitCode !== 0) return [];
  try {
    return ChatMessages.parse(JSON.parse(stdout.text));
  } catch {
    return [];
  }
}

async function save({ place }: ModelContext, messages: readonly ChatMessage[]): Promise<void> {
  const argv = ["/bin/sh", "-c", 'mkdir -p "$1" && cat > "$1/$2"', "save", place.stateRoot, SESSION] as const;
  await place.exec({ argv, stdin: JSON.stringify(messages), timeoutMs: 60_000 });
}
