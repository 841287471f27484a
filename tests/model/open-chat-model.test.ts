import { describe, expect, test } from "vitest";
import { openChatModel, type ModelNote } from "../../src/model/open-chat-model.ts";
import { context, failureOf, openScriptedModel, question } from "./open-model.ts";
import { REFUSED, openScriptedServer, type ScriptedReply } from "./scripted-server.ts";

test("a call brings text, usage, cost and the endpoint's name of the model", async () => {
  await using opened = await openScriptedModel(["Yes."]);
  const reply = await opened.model.chat(question({ temperature: 0, seed: 7 }), context());
  expect(reply).toMatchObject({ text: "Yes.", finishReason: "stop", modelId: "scripted" });
  expect(reply.usage).toStrictEqual({ calls: 1, inputTokens: 100, outputTokens: 20, costUsd: 0.0003 });
  expect(opened.server.calls[0]?.authorization).toBe("Bearer key-of-the-test");
  expect(opened.server.calls[0]?.body).toStrictEqual({
    model: "scripted",
    messages: [{ role: "user", content: "Is it there?" }],
    max_tokens: 100,
    temperature: 0,
    seed: 7,
  });
});

test("an image goes out as a data address", async () => {
  await using opened = await openScriptedModel(["Yes."]);
  const image = { type: "image", mediaType: "image/png", bytes: Uint8Array.of(1, 2, 3) } as const;
  await opened.model.chat(
    question({ messages: [{ role: "user", content: [{ type: "text", text: "see" }, image] }] }),
    context(),
  );
  expect(opened.server.calls[0]?.body.messages[0].content[1]).toStrictEqual({
    type: "image_url",
    image_url: { url: "data:image/png;base64,AQID" },
  });
});

describe("B71: the base address", () => {
  test.each(["", "/", "/v1", "/v1/", "/v1/chat/completions"])("%j after the host works", async (path) => {
    await using server = await openScriptedServer(["ok"]);
    await using model = openChatModel({ name: "scripted", baseUrl: `${server.origin}${path}` });
    await model.checkEndpoint(5_000, new AbortController().signal);
    expect((await model.chat(question(), context())).text).toBe("ok");
    expect(server.calls.map(({ url }) => url)).toStrictEqual(["/v1/chat/completions"]);
  });

  test("a 404 is not tried again and names the address that was asked", async () => {
    await using opened = await openScriptedModel(["ok"]);
    await using model = openChatModel({ name: "scripted", baseUrl: `${opened.server.origin}/v2` });
    const error = await failureOf(model.chat(question(), context()));
    expect(error.failure).toBe("bad_request");
    expect(error.message).toContain(`${opened.server.origin}/v2/chat/completions`);
    expect(error.message).toContain("/v1");
    expect(error.usage.calls).toBe(1);
  });

  test("a port where nothing listens fails before the run, saying so", async () => {
    const server = await openScriptedServer([]);
    await server[Symbol.asyncDispose]();
    await using model = openChatModel({ name: "scripted", baseUrl: server.baseUrl, retry: { firstWaitMs: 1 } });
    await expect(model.checkEndpoint(5_000, new AbortController().signal)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("ECONNREFUSED") as string,
    });
    const error = await failureOf(model.chat(question(), context()));
    expect(error).toMatchObject({
      failure: "network",
      usage: { calls: 6, inputTokens: 0, outputTokens: 0, costUsd: 0 },
    });
  });

  test.each(["ftp://host", "host:80", "http://me:secret@host", "http://host/v1?key=secret"])(
    "%j is refused",
    (baseUrl) => {
      expect(() => openChatModel({ name: "scripted", baseUrl })).toThrow(
        expect.objectContaining({ code: "usage" }) as Error,
      );
      expect(() => openChatModel({ name: "scripted", baseUrl })).not.toThrow("secret");
    },
  );
});

const response = (body: unknown, status = 200): ScriptedReply => ({ type: "response", status, body });
const completion = (content: unknown, more: object = {}): ScriptedReply => ({ type: "completion", content, ...more });

describe("failure classes, from status, code and finish reason", () => {
  test.each<[string, ScriptedReply, string, number]>([
    ["an exhausted quota", REFUSED.noQuota, "quota", 1],
    ["a wait of a day", REFUSED.rateLimit({ "retry-after": "86400" }), "quota", 1],
    ["a wait that is too long", REFUSED.rateLimit({ "retry-after": "120" }), "rate_limit", 1],
    ["a burst limit that does not end", REFUSED.rateLimit(), "rate_limit", 3],
    ["a refused key", REFUSED.badKey, "auth", 1],
    ["a payment that is due", response({ error: { message: "pay" } }, 402), "quota", 1],
    ["too long a context", REFUSED.contextOverflow, "context_overflow", 1],
    [
      "a bad request in words about context length",
      response({ error: { message: "context_length_exceeded" } }, 400),
      "bad_request",
      1,
    ],
    ["a filter", response({ error: { message: "filtered", code: "content_filter" } }, 400), "refusal", 1],
    ["an overloaded server", REFUSED.overloaded, "server", 3],
    ["a gateway's page", REFUSED.htmlPage, "server", 3],
    ["a connection that is hung up", { type: "hang-up" }, "network", 3],
    ["a body that is cut", { type: "cut", body: '{"choices": [' }, "network", 3],
    ["a refusal", completion(null, { refusal: "I cannot" }), "refusal", 1],
    ["a content filter's finish", completion("The li", { finishReason: "content_filter" }), "refusal", 1],
    ["no text at all", completion(null), "malformed", 1],
    ["an empty text at the length limit", completion("", { finishReason: "length" }), "length", 1],
  ])("%s", async (...[, reply, failure, calls]) => {
    await using opened = await openScriptedModel([reply]);
    const error = await failureOf(opened.model.chat(question(), context()));
    expect(error.failure).toBe(failure);
    expect(opened.server.calls).toHaveLength(calls);
    expect(error.usage.calls).toBe(calls);
  });

  test("text that was cut at the length limit is a reply that says so", async () => {
    await using opened = await openScriptedModel([completion("The list", { finishReason: "length" })]);
    expect(await opened.model.chat(question(), context())).toMatchObject({ text: "The list", finishReason: "length" });
  });
});

describe("B68: status 200, but no answer inside", () => {
  test.each<[string, unknown, string, string]>([
    [
      "an error with code 429",
      { error: { message: "Rate limit exceeded upstream", code: 429 } },
      "rate_limit",
      "Rate limit exceeded upstream",
    ],
    ["empty choices", { id: "x", choices: [], usage: { prompt_tokens: 9, completion_tokens: 0 } }, "server", "choices"],
    ["no choices", { id: "x", object: "chat.completion" }, "server", "chat.completion"],
    ["choices null", { id: "x", choices: null }, "server", "choices"],
    [
      "an error in the first choice",
      {
        choices: [
          {
            finish_reason: "error",
            message: { content: "The list is" },
            error: { code: 502, message: "Upstream provider failed" },
          },
        ],
      },
      "server",
      "Upstream provider failed",
    ],
    ["an empty body", "", "server", "200"],
    ["a JSON string", '"upstream said nothing"', "server", "upstream said nothing"],
    ["a page", "<html><h1>502 Bad Gateway</h1></html>", "server", "200"],
  ])("%s is a failed call in the gateway's words, and heals", async (...[, body, failure, words]) => {
    await using forEver = await openScriptedModel([response(body)]);
    const error = await failureOf(forEver.model.chat(question(), context()));
    expect(error.failure).toBe(failure);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain("undefined");
    expect(forEver.server.calls).toHaveLength(3);
    await using once = await openScriptedModel([response(body), "fine"]);
    expect((await once.model.chat(question(), context())).text).toBe("fine");
  });
});

const usageBody = (usage: unknown): ScriptedReply => completion("ok", { usage });
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, more: object = {}): string => event({ choices: [{ delta: { content } }], ...more });
const stream = (...events: readonly string[]): ScriptedReply => ({
  type: "response",
  headers: { "content-type": "text/event-stream" },
  body: events.join(""),
});
const end = event({ choices: [{ delta: {}, finish_reason: "stop" }] });

describe("B70: usage", () => {
  test.each<[string, ScriptedReply, number | null]>([
    ["absent", usageBody("absent"), null],
    ["null", usageBody(null), null],
    ["strings", usageBody({ prompt_tokens: "24", completion_tokens: "58" }), null],
    ["another total than the sum", usageBody({ prompt_tokens: 24, completion_tokens: 58, total_tokens: 500 }), 58],
    [
      "late, in a piece without choices",
      stream(
        delta("ok"),
        end,
        event({ choices: [], usage: { prompt_tokens: 24, completion_tokens: 58 } }),
        "data: [DONE]\n\n",
      ),
      58,
    ],
    [
      "growing",
      stream(
        delta("o", { usage: { prompt_tokens: 24, completion_tokens: 20 } }),
        delta("k", { usage: { prompt_tokens: 24, completion_tokens: 58 } }),
        end,
      ),
      58,
    ],
  ])("%s", async (_name, reply, outputTokens) => {
    await using opened = await openScriptedModel([reply]);
    const { text, usage } = await opened.model.chat(question(), context());
    expect(text).toBe("ok");
    expect(usage).toStrictEqual(
      outputTokens === null
        ? { calls: 1, inputTokens: null, outputTokens: null, costUsd: null }
        : { calls: 1, inputTokens: 24, outputTokens, costUsd: (24 + 580) / 1e6 },
    );
  });

  test("a stream that breaks off is no answer", async () => {
    await using opened = await openScriptedModel([stream(delta("o")), "whole"]);
    expect((await opened.model.chat(question(), context())).text).toBe("whole");
  });

  test("an unknown price is unknown, also where tokens are known", async () => {
    await using opened = await openScriptedModel(["ok"], { prices: {} });
    const { usage } = await opened.model.chat(question(), context());
    expect(usage).toStrictEqual({ calls: 1, inputTokens: 100, outputTokens: 20, costUsd: null });
  });
});

describe("retries and limits of time", () => {
  test("a burst limit is waited for as the endpoint asks, and its tries cost nothing", async () => {
    const notes: ModelNote[] = [];
    await using opened = await openScriptedModel(
      [REFUSED.rateLimit({ "retry-after-ms": "30" }), REFUSED.overloaded, "ok"],
      {
        listen: (note) => notes.push(note),
      },
    );
    const { usage } = await opened.model.chat(question(), context());
    expect(usage).toStrictEqual({ calls: 3, inputTokens: 100, outputTokens: 20, costUsd: 0.0003 });
    expect(notes.filter(({ type }) => type === "retry")).toMatchObject([
      { failure: "rate_limit", waitMs: 30 },
      { failure: "server" },
    ]);
    expect(opened.model.limitHistory.map(({ limit, reason }) => [limit, reason])).toStrictEqual([
      [4, "start"],
      [2, "cut"],
    ]);
  });

  test("what a cut try took is unknown, and so is the sum", async () => {
    await using opened = await openScriptedModel([{ type: "cut", body: "{" }, "ok"]);
    expect((await opened.model.chat(question(), context())).usage).toMatchObject({
      calls: 2,
      inputTokens: null,
      costUsd: null,
    });
    expect(opened.model.usageByRole()).toMatchObject({ judge: { calls: 2, inputTokens: null } });
  });

  test("one limit bounds all tries", async () => {
    await using opened = await openScriptedModel([REFUSED.overloaded, { type: "silence" }]);
    const error = await failureOf(opened.model.chat(question(), context({ timeoutMs: 100 })));
    expect(error).toMatchObject({ failure: "timeout", usage: { calls: 2, inputTokens: null } });
  });

  test("a wait that does not fit into the limit is not begun", async () => {
    await using opened = await openScriptedModel([REFUSED.rateLimit({ "retry-after": "30" })]);
    const error = await failureOf(opened.model.chat(question(), context({ timeoutMs: 2_000 })));
    expect(error).toMatchObject({ failure: "rate_limit", usage: { calls: 1, inputTokens: 0 } });
  });

  test("an abort ends a call with the signal's reason, and closing ends it too", async () => {
    const stop = new AbortController();
    const opened = await openScriptedModel(() => {
      stop.abort(new Error("Ctrl+C"));
      return { type: "silence" };
    });
    await expect(opened.model.chat(question(), context({ signal: stop.signal }))).rejects.toThrow("Ctrl+C");
    const open = expect(opened.model.chat(question(), context())).rejects.toThrow("closed");
    await opened[Symbol.asyncDispose]();
    await open;
  });
});

test("a parameter that the endpoint refuses by name is left out from then on", async () => {
  const notes: ModelNote[] = [];
  await using opened = await openScriptedModel(
    ({ body }) => {
      if ("max_tokens" in body) return REFUSED.parameter("max_tokens");
      return "temperature" in body ? REFUSED.parameter("temperature") : "ok";
    },
    { listen: (note) => notes.push(note) },
  );
  await opened.model.chat(question({ temperature: 0 }), context());
  await opened.model.chat(question({ temperature: 0 }), context());
  expect(opened.server.calls).toHaveLength(4);
  expect(opened.server.calls.at(-1)?.body).toMatchObject({ max_completion_tokens: 100 });
  expect(notes.filter(({ type }) => type === "adapted")).toMatchObject([
    { parameter: "max_tokens" },
    { parameter: "temperature" },
  ]);
});
