import { z } from "zod";
import type { CommandResult } from "../sandbox.ts";
import { jsonLines } from "./json-lines.ts";
import type { AgentReport, AgentSpec, AgentTurnModel } from "./spec.ts";
import { stepOf } from "./steps.ts";

const VERSION = "0.171.0";
const CONTEXT_WINDOW = 200_000;

/** Codex CLI: the responses API only; it chooses the session's id itself. */
export const codexAgent: AgentSpec = {
  name: "codex",
  version: VERSION,
  canContinue: true,
  layer: {
    dockerfile: [`RUN npm install -g --ignore-scripts @openai/codex@${VERSION}`],
    selfTest: ["codex", "--version"],
  },
  files: ({ model }) => ({ ".codex/config.toml": configOf(model) }),
  command: ({ prompt, agentSessionId }) => ({
    argv: [
      "codex",
      "exec",
      ...(agentSessionId === null ? [] : ["resume"]),
      "--json",
      "--skip-git-repo-check",
      // The container is its sandbox; its own needs rights that nobody has there.
      "--dangerously-bypass-approvals-and-sandbox",
      ...(agentSessionId === null ? [] : [agentSessionId]),
      "-",
    ],
    stdin: prompt,
  }),
  read,
};

// A JSON string is a TOML string too.
const configOf = ({ name, openaiUrl }: AgentTurnModel): string => `model = ${JSON.stringify(name)}
model_provider = "evoweb"
model_context_window = ${CONTEXT_WINDOW}
check_for_update_on_startup = false

[model_providers.evoweb]
name = "evoweb"
base_url = ${JSON.stringify(openaiUrl)}
env_key = "LLM_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[otel]
metrics_exporter = "none"

[features]
plugins = false
`;

const Started = z.object({ type: z.literal("thread.started"), thread_id: z.string() });
const Completed = z.object({
  type: z.literal("item.completed"),
  item: z.looseObject({
    id: z.string().default("item"),
    type: z.string(),
    text: z.string().optional(),
    command: z.string().optional(),
    aggregated_output: z.string().optional(),
  }),
});
type Item = z.infer<typeof Completed>["item"];

/** Items that are no tools. */
const WORDS: ReadonlySet<string> = new Set(["agent_message", "reasoning", "error", "todo_list"]);

function read({ stdout }: CommandResult): AgentReport {
  const lines = jsonLines(stdout.text);
  const started = lines.flatMap((line) => Started.safeParse(line).data ?? [])[0];
  const items = lines.flatMap((line) => Completed.safeParse(line).data?.item ?? []);
  const text = items.findLast(({ type }) => type === "agent_message")?.text ?? "";
  return {
    outcome: lines.some(({ type }) => type === "turn.failed") ? "provider_error" : null,
    finalText: text === "" ? null : text,
    toolCalls: items.filter(({ type }) => !WORDS.has(type)).length,
    ...(started === undefined ? {} : { sessionId: started.thread_id }),
    steps: items.flatMap(stepsOf),
  };
}

function stepsOf({ id, type, text = "", command, aggregated_output: output, ...rest }: Item) {
  if (type === "agent_message") return [stepOf({ text })];
  if (type === "reasoning") return [stepOf({ text: "", thinking: text })];
  if (WORDS.has(type)) return [];
  const args = command === undefined ? { ...rest } : { command };
  return [stepOf({ text: "", calls: [{ id, name: type, args, ...(output === undefined ? {} : { result: output }) }] })];
}
