import { z } from "zod";
import type { AtifStep } from "../../trace/atif.ts";
import type { CommandResult } from "../sandbox.ts";
import { jsonLines } from "./json-lines.ts";
import type { AgentReport } from "./spec.ts";
import { joinTexts, stepOf } from "./steps.ts";

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional().catch(undefined),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});
const Said = z.looseObject({
  type: z.enum(["assistant", "user"]),
  message: z.looseObject({
    id: z.string().optional(),
    model: z.string().optional(),
    content: z.array(Block).catch([]),
  }),
});
const Result = z.looseObject({
  type: z.literal("result"),
  subtype: z.string().optional(),
  is_error: z.boolean().optional(),
  result: z.string().optional(),
});
type Block = z.infer<typeof Block>;

/** Reads the stream-json output that Claude Code made up and others print as well: whole messages, and a result at the end. */
export function readStreamJson({ stdout }: CommandResult): AgentReport {
  const lines = jsonLines(stdout.text);
  const said = lines.flatMap((line) => Said.safeParse(line).data ?? []);
  const result = lines.flatMap((line) => Result.safeParse(line).data ?? []).at(-1);
  const seen = said.filter(({ type }) => type === "user").flatMap(({ message }) => message.content);
  const results = new Map(seen.flatMap(({ tool_use_id: id, content }) => (id === undefined ? [] : [[id, content]])));
  const answers = said.filter(({ type }) => type === "assistant").map(({ message }) => message);
  const last = joinTexts(answers.at(-1)?.content ?? []);
  const text = result?.is_error === true ? last : (result?.result ?? last);
  return {
    outcome: outcomeOf(result),
    finalText: text === "" ? null : text,
    toolCalls: answers.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use")).length,
    steps: answers.map(({ content, model }): AtifStep =>
      stepOf({
        text: joinTexts(content),
        thinking: content.flatMap(({ thinking }) => thinking ?? []).join("\n"),
        ...(model === undefined ? {} : { model }),
        calls: content.flatMap((block) => callOf(block, results)),
      }),
    ),
  };
}

function callOf({ type, id, name = "tool", input = {} }: Block, results: ReadonlyMap<unknown, unknown>) {
  if (type !== "tool_use" || id === undefined) return [];
  return [{ id, name, args: input, ...(results.has(id) ? { result: resultText(results.get(id)) } : {}) }];
}

function resultText(content: unknown): string {
  const blocks = z.array(Block).safeParse(content).data;
  if (blocks !== undefined) return joinTexts(blocks);
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

// "success" is the subtype after a refused call too; only `is_error` tells.
function outcomeOf(result: z.infer<typeof Result> | undefined): AgentReport["outcome"] {
  if (result?.subtype === "error_max_turns") return "step_limit";
  if (result?.subtype === "error_max_budget_usd") return "cost_limit";
  return result?.is_error === true ? "provider_error" : null;
}
