import { z } from "zod";
import { EvowebError } from "../../errors.ts";
import type { Outcome } from "../outcome.ts";
import type { CommandResult } from "../sandbox.ts";
import { ACP_PROGRAM } from "./acp-program.ts";
import { jsonLines } from "./json-lines.ts";
import type { AgentReport, AgentSpec } from "./spec.ts";
import { stepOf } from "./steps.ts";

const PROGRAM = "evoweb-acp.mjs";
const SHELL_WORDS = /\s+/u;

/**
 * Any agent that speaks the Agent Client Protocol over standard input and output, started by `command` (words between blanks;
 * no shell). Where its program belongs to an agent we know, that agent's image and settings are used; others find their
 * model by the variables that every agent has. Throws `EvowebError("usage")` for an empty command.
 */
export function acpAgent(command: string, known: readonly AgentSpec[]): AgentSpec {
  const words = command.trim().split(SHELL_WORDS);
  const [program = ""] = words;
  if (program === "") {
    throw new EvowebError("usage", "--agent acp needs --command \"…\": what starts the agent, such as 'opencode acp'");
  }
  const host = known.find(({ layer }) => layer.selfTest[0] === program);
  return {
    name: "acp",
    version: host === undefined ? "unknown" : `${host.name}-${host.version}`,
    canContinue: true,
    layer: host?.layer ?? { dockerfile: [], selfTest: ["node", "--version"] },
    files: (turn) => ({ ...host?.files?.(turn), [PROGRAM]: ACP_PROGRAM }),
    command: (turn) => ({
      argv: ["node", `${turn.stateRoot}/${PROGRAM}`, ...words],
      env: { OPENAI_MODEL: turn.model.name, ...host?.command(turn).env, ACP_SESSION: turn.agentSessionId ?? "" },
      stdin: turn.prompt,
    }),
    read,
  };
}

const Content = z.looseObject({ type: z.string(), text: z.string().optional() });
const Update = z.looseObject({
  sessionUpdate: z.string(),
  // One part of a message, or a tool's list of results.
  content: z.unknown().optional(),
  toolCallId: z.string().optional(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  rawInput: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});
const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session"), sessionId: z.string() }),
  z.object({ type: z.literal("update"), update: Update }),
  z.object({ type: z.literal("stop"), stopReason: z.string() }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);
type Update = z.infer<typeof Update>;

const STOPS: Readonly<Record<string, Outcome>> = {
  max_turn_requests: "step_limit",
  refusal: "permission_denied",
  cancelled: "crashed",
};

function read({ stdout }: CommandResult): AgentReport {
  const lines = jsonLines(stdout.text).flatMap((line) => Line.safeParse(line).data ?? []);
  const session = lines.find((line) => line.type === "session");
  const stop = lines.find((line) => line.type === "stop");
  const updates = lines.flatMap((line) => (line.type === "update" ? [line.update] : []));
  const calls = callsOf(updates);
  const text = lastWords(updates);
  return {
    outcome: stop === undefined ? "crashed" : (STOPS[stop.stopReason] ?? null),
    finalText: text === "" ? null : text,
    toolCalls: calls.length,
    ...(session === undefined ? {} : { sessionId: session.sessionId }),
    steps: [...calls.map((call) => stepOf({ text: "", calls: [call] })), ...(text === "" ? [] : [stepOf({ text })])],
  };
}

/** What it said after its last tool. */
function lastWords(updates: readonly Update[]): string {
  const lastTool = updates.findLastIndex(({ toolCallId }) => toolCallId !== undefined);
  const chunks = updates.slice(lastTool + 1).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  return chunks.map(({ content }) => Content.safeParse(content).data?.text ?? "").join("");
}

/** Every tool call once, with the latest that was said of it. */
function callsOf(updates: readonly Update[]) {
  const calls = new Map<string, { id: string; name: string; args: Record<string, unknown>; result?: string }>();
  for (const { toolCallId: id, title, kind, rawInput, content } of updates) {
    if (id === undefined) continue;
    const { name = kind ?? title ?? "tool", args = {}, result } = calls.get(id) ?? {};
    const said = resultOf(content) ?? result;
    calls.set(id, { id, name, args: rawInput ?? args, ...(said === undefined ? {} : { result: said }) });
  }
  return [...calls.values()];
}

function resultOf(content: unknown): string | undefined {
  const parts = z.array(z.looseObject({ content: Content.optional() })).safeParse(content).data ?? [];
  return parts.length === 0 ? undefined : parts.flatMap((part) => part.content?.text ?? []).join("\n");
}
