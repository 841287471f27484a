import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chatJson } from "../../src/model/chat-json.ts";
import { context, failureOf, openScriptedModel, question } from "./open-model.ts";
import { REFUSED, type ScriptedReply } from "./scripted-server.ts";

const Verdict = z.strictObject({ passed: z.boolean(), reason: z.string().nullable().default(null) });
const asked = { ...question(), json: { name: "verdict", schema: Verdict } };
const completion = (content: unknown, finishReason = "stop"): ScriptedReply => ({
  type: "completion",
  content,
  finishReason,
});

test("the schema goes out as response_format, and a good reply is validated", async () => {
  await using opened = await openScriptedModel(['{"passed": true, "reason": null}']);
  const Strict = z.strictObject({ passed: z.boolean(), reason: z.string().max(200).nullable() });
  const answer = await chatJson(opened.model, { ...question(), json: { name: "verdict", schema: Strict } }, context());
  expect(answer).toMatchObject({ value: { passed: true, reason: null }, rejected: [], usage: { calls: 1 } });
  expect(opened.server.calls[0]?.body.response_format).toStrictEqual({
    type: "json_schema",
    json_schema: {
      name: "verdict",
      strict: true,
      schema: {
        type: "object",
        properties: { passed: { type: "boolean" }, reason: { anyOf: [{ type: "string" }, { type: "null" }] } },
        required: ["passed", "reason"],
        additionalProperties: false,
      },
    },
  });
});

test.each([
  ["that names the parameter", REFUSED.noResponseFormat],
  ["without a name", { type: "response", status: 400, body: "no" } as const],
])("a 400 %s: from then on the schema is asked for in words", async (_name, refusal) => {
  await using opened = await openScriptedModel(({ body }) =>
    "response_format" in body ? refusal : '```json\n{"passed": false}\n```',
  );
  const first = await chatJson(opened.model, asked, context());
  expect(first).toMatchObject({ value: { passed: false, reason: null }, usage: { calls: 2, inputTokens: 100 } });
  await chatJson(opened.model, asked, context());
  expect(opened.server.calls).toHaveLength(3);
  expect(opened.server.calls[2]?.body.messages).toHaveLength(1);
  expect(opened.server.calls[2]?.body.messages[0].content).toContain('"additionalProperties":false');
});

test("a 400 for another reason is neither hidden nor remembered", async () => {
  await using opened = await openScriptedModel(({ index }) =>
    index < 2 ? { type: "response", status: 400, body: "no" } : '{"passed": true}',
  );
  expect((await failureOf(chatJson(opened.model, asked, context()))).failure).toBe("bad_request");
  await chatJson(opened.model, asked, context());
  expect(opened.server.calls[2]?.body).toHaveProperty("response_format");
});

describe("B62: verdict fields of the wrong type", () => {
  test.each([
    ['{"passed": "false", "reason": "wrong item"}', false],
    ['{"passed": "FALSE"}', false],
    ['{"passed": false}', false],
    ['{"passed": "no"}', false],
    ['{"passed": true}', true],
    ['{"passed": "true"}', true],
  ])("%s is %s at the first try", async (text, passed) => {
    await using opened = await openScriptedModel([text]);
    expect((await chatJson(opened.model, asked, context())).value.passed).toBe(passed);
    expect(opened.server.calls).toHaveLength(1);
  });

  test.each([
    '{"passed": 0}',
    '{"passed": null, "reason": "timeout"}',
    '{"reason": "forgot the verdict"}',
    '{"passed": [true]}',
    '{"passed": true, "passed": false}',
    '{"passed": "maybe"}',
    "[]",
    '"true"',
    "null",
    "{}",
  ])("%s is unreadable", async (text) => {
    await using opened = await openScriptedModel([text]);
    const error = await failureOf(chatJson(opened.model, asked, context()));
    expect(error).toMatchObject({
      failure: "malformed",
      replies: [text, text, text],
      usage: { calls: 3, inputTokens: 300 },
    });
    expect(opened.server.calls).toHaveLength(3);
  });
});

describe("B64: wrappings", () => {
  const no = '{"passed": false, "reason": "empty list"}';
  test.each([
    no,
    `\`\`\`json\n${no}\n\`\`\``,
    `\`\`\`\n${no}\n\`\`\`\n`,
    `Here is my verdict:\n\n${no}\n\nLet me know if you need more.`,
    `\uFEFF${no}`,
    '{"passed": false, "reason": "empty list",}',
    '{"passed": false, // the list is empty\n "reason": "empty list"}',
    `<think>{"passed": true}</think>${no}`,
  ])("%j is read without a second call", async (text) => {
    await using opened = await openScriptedModel([text]);
    expect((await chatJson(opened.model, asked, context())).value).toStrictEqual({
      passed: false,
      reason: "empty list",
    });
    expect(opened.server.calls).toHaveLength(1);
  });

  test("single quotes are asked for again, saying what was wrong, and both replies are counted", async () => {
    const quoted = "{'passed': False, 'reason': 'empty list'}";
    await using opened = await openScriptedModel([quoted, no]);
    expect(await chatJson(opened.model, asked, context())).toMatchObject({
      value: { passed: false },
      rejected: [quoted],
      usage: { calls: 2, inputTokens: 200, outputTokens: 40 },
    });
    const [, assistant, repair] = opened.server.calls[1]?.body.messages ?? [];
    expect(assistant).toStrictEqual({ role: "assistant", content: quoted });
    expect(repair.content).toContain("cannot be read at character");
    expect(repair.content).toContain("JSON Schema");
  });

  test.each([
    '{"passed": true} {"passed": false}',
    '```json\n{"passed": true}\n```\n```json\n{"passed": false}\n```',
    '<think>{"passed": true}',
  ])("%j is not guessed at", async (text) => {
    await using opened = await openScriptedModel([text]);
    expect((await failureOf(chatJson(opened.model, asked, context()))).failure).toBe("malformed");
  });
});

test.each([
  completion(""),
  completion("  \n\t"),
  completion(null),
  completion("Hello! How can I help you today?"),
  completion("<think>The page looks right to me, I should say that it passed</think>"),
])("B65: no verdict at all is malformed after two repairs (%j)", async (reply) => {
  await using opened = await openScriptedModel([reply]);
  expect(await failureOf(chatJson(opened.model, asked, context()))).toMatchObject({
    failure: "malformed",
    usage: { calls: 3 },
  });
  expect(opened.server.calls).toHaveLength(3);
});

test("B65: a list of parts is read", async () => {
  await using opened = await openScriptedModel([
    completion([{ type: "text", text: '{"passed": true, "reason": "seen"}' }]),
  ]);
  expect((await chatJson(opened.model, asked, context())).value.passed).toBe(true);
});

test.each(['{"passed": true, "reason": "The list sho', '{"passed": true, "reason": "ok"}', "", null])(
  "B67: an answer cut at the length limit is no verdict and names the limit (%j)",
  async (content) => {
    await using opened = await openScriptedModel([completion(content, "length")]);
    const error = await failureOf(chatJson(opened.model, asked, context()));
    expect(error).toMatchObject({ failure: "length", usage: { calls: 1, inputTokens: 100 } });
    expect(error.message).toContain("100 output tokens");
    expect(opened.server.calls).toHaveLength(1);
  },
);

test("B35's kind: broken arguments go back as text and never as a tool call that a strict server would refuse", async () => {
  const broken = '{"command": "echo one\n two"';
  await using opened = await openScriptedModel([broken, '["ls","-la"]', '{"command": "ls"}']);
  const schema = z.strictObject({ command: z.string() });
  const { value, rejected } = await chatJson(
    opened.model,
    { ...question(), json: { name: "action", schema } },
    context(),
  );
  expect(value).toStrictEqual({ command: "ls" });
  expect(rejected).toStrictEqual([broken, '["ls","-la"]']);
  expect(JSON.stringify(opened.server.calls.map(({ body }) => body))).not.toContain("tool_calls");
  expect(opened.server.calls[2]?.body.messages.map(({ role }: { role: string }) => role)).toStrictEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
});

test("what failed replies took is counted when a repair fails for another reason", async () => {
  await using opened = await openScriptedModel(["no", REFUSED.badKey]);
  const error = await failureOf(chatJson(opened.model, asked, context()));
  expect(error).toMatchObject({
    failure: "auth",
    replies: ["no"],
    usage: { calls: 2, inputTokens: 100, costUsd: 0.0003 },
  });
});

test("a schema with optional properties or records is sent, but not as strict", async () => {
  await using opened = await openScriptedModel(['{"by": {"a": 3}}']);
  const schema = z.strictObject({ note: z.string().optional(), by: z.record(z.string(), z.int()) });
  expect(
    (await chatJson(opened.model, { ...question(), json: { name: "counts", schema } }, context())).value,
  ).toStrictEqual({ by: { a: 3 } });
  expect(opened.server.calls[0]?.body.response_format.json_schema).toMatchObject({
    strict: false,
    schema: { required: ["by"] },
  });
});
