import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { EvowebError } from "../../errors.ts";
import type { Agent } from "../agent.ts";
import { packTar } from "../tar.ts";
import { createModelAgent, type Conversation, type Message, type ModelContext, type Said } from "./conversation.ts";
import type { AgentSpec, AgentTurn } from "./spec.ts";

// Events of a long turn; what agents repeat for every piece of a text their commands should leave out.
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const LOG_CHARS = 512 * 1024;
const STATE_TIMEOUT_MS = 60_000;
const SESSION_FILE = ".evoweb-session.json";

/** What is kept of a conversation beside the agent's own files, so that it is brought back together with them. */
const Session = z.object({ own: z.string(), theirs: z.string().nullable(), isBegun: z.boolean() });
type Session = z.infer<typeof Session>;

/** An agent that runs as one process per message. */
export function createProcessAgent(spec: AgentSpec): Agent {
  const { name, version, layer, canContinue } = spec;
  return createModelAgent({
    name,
    version,
    layer,
    canContinue,
    converse: (context): Conversation => ({
      isNew: async () => !(await readSession(context)).isBegun,
      say: (message) => say(spec, context, message),
      [Symbol.asyncDispose]: async () => {},
    }),
  });
}

async function readSession({ place }: ModelContext): Promise<Session> {
  const { stdout } = await place.exec({
    argv: ["cat", `${place.stateRoot}/${SESSION_FILE}`],
    timeoutMs: STATE_TIMEOUT_MS,
  });
  try {
    return Session.parse(JSON.parse(stdout.text));
  } catch {
    return { own: randomUUID(), theirs: null, isBegun: false };
  }
}

async function say(spec: AgentSpec, context: ModelContext, message: Message): Promise<Said> {
  const { place, model } = context;
  const session = await readSession(context);
  const { request, prompt, timeoutMs } = message;
  const turn: AgentTurn = {
    request,
    prompt,
    isFirst: !session.isBegun,
    ownSessionId: session.own,
    agentSessionId: session.theirs,
    stateRoot: place.stateRoot,
    workspace: place.root,
    model: { name: model.name, url: model.url, openaiUrl: `${model.url}/v1`, apiKey: model.apiKey },
    timeoutMs,
  };
  await putFiles(context, { ...spec.files?.(turn), [SESSION_FILE]: JSON.stringify({ ...session, isBegun: true }) });
  const { argv, env = {}, stdin = "" } = spec.command(turn);
  const result = await place.exec({
    argv,
    env: { ...commonEnvironment(turn), ...env },
    stdin,
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal: message.signal,
  });
  const report = spec.read(result);
  if (report.sessionId !== undefined) {
    await putFiles(context, {
      [SESSION_FILE]: JSON.stringify({ ...session, theirs: report.sessionId, isBegun: true }),
    });
  }
  const { stdout, stderr, exitCode, how } = result;
  const log = `--- ${spec.name} ${spec.version}: exit code ${exitCode}, ${how}\n--- stdout\n${bounded(stdout.text)}\n--- stderr\n${bounded(stderr.text)}\n`;
  return { ...report, exitCode, how, log };
}

function commonEnvironment({ stateRoot, model }: AgentTurn): Record<string, string> {
  return {
    HOME: stateRoot,
    CI: "1",
    TERM: "dumb",
    LLM_API_KEY: model.apiKey,
    OPENAI_API_KEY: model.apiKey,
    OPENAI_BASE_URL: model.openaiUrl,
    ANTHROPIC_API_KEY: model.apiKey,
    ANTHROPIC_BASE_URL: model.url,
  };
}

async function putFiles({ place }: ModelContext, files: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(files).map(([path, text]) => ({ path, mode: 0o644, bytes: Buffer.from(text) }));
  const { exitCode, stderr } = await place.exec({
    argv: ["/bin/sh", "-c", 'mkdir -p "$1" && tar -C "$1" -xf -', "put", place.stateRoot],
    stdin: await buffer(packTar(entries)),
    timeoutMs: STATE_TIMEOUT_MS,
  });
  if (exitCode !== 0)
    throw new EvowebError("sandbox", `files for the agent could not be put into its place: ${stderr.text}`);
}

const bounded = (text: string): string =>
  text.length <= LOG_CHARS
    ? text
    : `${text.slice(0, LOG_CHARS / 2)}\n[${text.length - LOG_CHARS} characters left out]\n${text.slice(-LOG_CHARS / 2)}`;
