import { z } from "zod";
import type { AtifStep } from "../../trace/atif.ts";
import type { CommandResult } from "../sandbox.ts";
import { jsonLines } from "./json-lines.ts";
import type { AgentReport, AgentSpec, AgentTurnModel } from "./spec.ts";
import { stepOf } from "./steps.ts";

const VERSION = "1.18.33";
const CONTEXT_WINDOW = 200_000;
const MAX_TOKENS = 32_000;
const QUIET = { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" };

/** OpenCode: chat completions; it chooses the session's id itself. Its install script puts the program in place. */
export const opencodeAgent: AgentSpec = {
  name: "opencode",
  version: VERSION,
  canContinue: true,
  layer: {
    dockerfile: [`RUN npm install -g opencode-ai@${VERSION}`],
    env: QUIET,
    selfTest: ["opencode", "--version"],
  },
  command: ({ model, prompt, agentSessionId }) => ({
    // The prompt goes in on standard input: as an argument it would reach the model in quotes.
    argv: [
      "opencode",
      "run",
      "--format",
      "json",
      "--auto",
      ...(agentSessionId === null ? [] : ["--session", agentSessionId]),
    ],
    env: { ...QUIET, OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(model)) },
    stdin: prompt,
  }),
  read,
};

/** Settings of OpenCode for the gateway's model, for whoever starts it. */
function opencodeConfig({ name, openaiUrl }: Pick<AgentTurnModel, "name" | "openaiUrl">): unknown {
  const options = { baseURL: openaiUrl, apiKey: "{env:LLM_API_KEY}" };
  const models = { [name]: { limit: { context: CONTEXT_WINDOW, output: MAX_TOKENS } } };
  return {
    model: `evoweb/${name}`,
    small_model: `evoweb/${name}`,
    autoupdate: false,
    share: "disabled",
    // What it would ask for is refused without a word when nobody answers.
    permission: { "*": "allow" },
    provider: { evoweb: { npm: "@ai-sdk/openai-compatible", options, models } },
  };
}

const Event = z.looseObject({
  type: z.string(),
  sessionID: z.string().optional(),
  part: z
    .looseObject({
      text: z.string().optional(),
      callID: z.string().optional(),
      tool: z.string().optional(),
      state: z
        .looseObject({
          input: z.record(z.string(), z.unknown()).optional().catch(undefined),
          output: z.string().optional().catch(undefined),
          error: z.string().optional().catch(undefined),
        })
        .optional(),
    })
    .optional(),
});

function read({ stdout }: CommandResult): AgentReport {
  const events = jsonLines(stdout.text).flatMap((line) => Event.safeParse(line).data ?? []);
  const sessionId = events.find(({ sessionID }) => sessionID !== undefined)?.sessionID;
  const text = events.findLast(({ type }) => type === "text")?.part?.text ?? "";
  return {
    outcome: events.some(({ type }) => type === "error") ? "provider_error" : null,
    finalText: text === "" ? null : text,
    toolCalls: events.filter(({ type }) => type === "tool_use").length,
    ...(sessionId === undefined ? {} : { sessionId }),
    steps: events.flatMap(stepsOf),
  };
}

function stepsOf({ type, part = {} }: z.infer<typeof Event>): readonly AtifStep[] {
  const { text = "", callID: id = "call", tool: name = "tool", state: { input = {}, output, error } = {} } = part;
  if (type === "text") return [stepOf({ text })];
  if (type !== "tool_use") return [];
  const result = output ?? error;
  return [stepOf({ text: "", calls: [{ id, name, args: input, ...(result === undefined ? {} : { result }) }] })];
}
