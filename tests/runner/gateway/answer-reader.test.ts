import { expect, test } from "vitest";
import { AnswerReader } from "../../../src/runner/gateway/answer-reader.ts";

test("a streamed tool call that comes as a whole item, without deltas, is an answer", () => {
  const reader = new AnswerReader(true);
  const say = (event: unknown): void => reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  say({ type: "response.created", response: { model: "m", output: [] } });
  expect(reader.hasOutput).toBe(false);
  say({ type: "response.output_item.done", item: { type: "function_call", name: "shell", arguments: "{}" } });
  expect(reader.hasOutput).toBe(true);
});
