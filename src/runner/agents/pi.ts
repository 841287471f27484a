import { z } from "zod";
import type { AtifStep } from "../../trace/atif.ts";
import type { CommandResult } from "../sandbox.ts";
import { jsonLines } from "./json-lines.ts";
import type { AgentReport, AgentSpec, AgentTurn } from "./spec.ts";

const VERSION = "1.6.0";
const CONTEXT_WINDOW = 200_000;
const MAX_TOKENS = 32_000;

/** Pi, https://github.com/earendil-works/pi: chat completions, sessions with an id that we choose. */
export const piAgent: AgentSpec = {
  name: "pi",
  version: VERSION,
  canContinue: true,
  layer: {
    dockerfile: [`RUN npm install -g --ignore-scripts @earendil-works/pi-coding-agent@${VERSION}`],
    env: { PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    selfTest: ["pi", "--version"],
  },
  files: (turn) => ({ "pi/models.json": JSON.stringify(modelsOf(turn)) }),
  command: ({ model, ownSessionId, stateRoot, prompt }) => ({
    // Every piece of a text repeats the whole message so far; only whole messages are kept.
    argv: [
      "/bin/bash",
      "-o",
      "pipefail",
      "-c",
      'pi "$@" | { grep -v \'^{"type":"message_update"\' || true; }',
      "pi",
      "-p",
      "--mode",
      "json",
      "--provider",
      "evoweb",
      "--model",
      model.name,
      "--session-id",
      ownSessionId,
      "--session-dir",
      `${stateRoot}/pi/sessions`,
    ],
    env: { PI_CODING_AGENT_DIR: `${stateRoot}/pi`, PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    stdin: prompt,
  }),
  read,
};

function modelsOf({ model }: AgentTurn): unknown {
  const limits = { contextWindow: CONTEXT_WINDOW, maxTokens: MAX_TOKENS };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const provider = { baseUrl: model.openaiUrl, api: "openai-completions", apiKey: "$LLM_API_KEY" };
  return { providers: { evoweb: { ...provider, models: [{ id: model.name, ...limits, cost }] } } };
}

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
const MessageEnd = z.object({
  type: z.literal("message_end"),
  message: z.looseObject({
    role: z.string(),
    content: z.union([z.string().transform((text) => [Part.parse({ type: "text", text })]), z.array(Part)]),
    stopReason: z.string().optional(),
    model: z.string().optional(),
    toolCallId: z.string().optional(),
    usage: z.looseObject({ input: z.number(), output: z.number(), cacheRead: z.number().default(0) }).optional(),
  }),
});
type PiMessage = z.infer<typeof MessageEnd>["message"];

function read({ stdout }: CommandResult): AgentReport {
  const messages = jsonLines(stdout.text).flatMap((line) => MessageEnd.safeParse(line).data?.message ?? []);
  const answers = messages.filter(({ role }) => role === "assistant");
  const last = answers.at(-1);
  const text = last === undefined ? "" : textOf(last);
  return {
    // JSON mode leaves with 0 after an error too; only the reason to stop tells.
    outcome: last?.stopReason === "error" ? "provider_error" : null,
    finalText: text === "" ? null : text,
    toolCalls: answers.flatMap(({ content }) => content.filter(({ type }) => type === "toolCall")).length,
    steps: stepsOf(messages),
  };
}

const textOf = ({ content }: PiMessage): string =>
  content.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])).join("\n");

function stepsOf(messages: readonly PiMessage[]): readonly AtifStep[] {
  const results = new Map(
    messages.flatMap((message) => (message.toolCallId === undefined ? [] : [[message.toolCallId, message] as const])),
  );
  return messages.filter(({ role }) => role === "assistant").map((message) => stepOf(message, results));
}

function stepOf(message: PiMessage, results: ReadonlyMap<string, PiMessage>): AtifStep {
  const calls = message.content.filter(({ type, id }) => type === "toolCall" && id !== undefined);
  const reasoning = message.content.flatMap(({ thinking }) => thinking ?? []).join("\n");
  const { usage } = message;
  const seen = calls.flatMap(({ id = "" }) => {
    const result = results.get(id);
    return result === undefined ? [] : [{ source_call_id: id, content: textOf(result) }];
  });
  return {
    step_id: 1,
    source: "agent",
    message: textOf(message),
    ...(message.model === undefined ? {} : { model_name: message.model }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id = "", name = "tool", arguments: args = {} }) => ({
            tool_call_id: id,
            function_name: name,
            arguments: args,
          })),
        }),
    ...(seen.length === 0 ? {} : { observation: { results: seen } }),
    ...(usage === undefined
      ? {}
      : {
          metrics: {
            prompt_tokens: usage.input + usage.cacheRead,
            completion_tokens: usage.output,
            cached_tokens: usage.cacheRead,
          },
        }),
  };
}
