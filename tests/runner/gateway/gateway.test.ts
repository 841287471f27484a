import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { Gateway, type GatewayOptions } from "../../../src/runner/gateway/gateway.ts";
import type { LlmCall } from "../../../src/runner/gateway/llm-call.ts";
import { Meter } from "../../../src/runner/gateway/meter.ts";
import { stopListening } from "../../../src/runner/stop-listening.ts";
import { createMask } from "../../../src/trace/mask.ts";
import { openScriptedModel, type ScriptedReply } from "../../agents/scripted-model.ts";

const REAL_KEY = "sk-real-key-of-the-host-1234";
const cleanup: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const undo of cleanup.toReversed()) await undo();
});

interface Opened {
  readonly gateway: Gateway;
  readonly url: string;
  readonly lines: LlmCall[];
  readonly ask: (path: string, body: unknown, key?: string) => Promise<Response>;
}

async function open(baseUrl: string, more: Partial<GatewayOptions> = {}): Promise<Opened> {
  const lines: LlmCall[] = [];
  const gateway = new Gateway({
    upstreams: { openai: { baseUrl, apiKey: REAL_KEY } },
    budgets: { request: {}, app: {}, run: {} },
    runMeter: new Meter(),
    priceOf: (model, { inputTokens, outputTokens }) =>
      model === "scripted-1" ? (inputTokens + 2 * outputTokens) / 1e6 : null,
    record: (line) => void lines.push(line),
    mask: createMask([REAL_KEY]),
    ...more,
  });
  await once(gateway.server.listen(0, "127.0.0.1"), "listening");
  cleanup.push(() => stopListening(gateway.server));
  const url = `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}`;
  return {
    gateway,
    url,
    lines,
    ask: (path, body, key = gateway.placeholderKey) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      }),
  };
}

async function model(script: (index: number) => ScriptedReply) {
  const opened = await openScriptedModel(({ index }) => script(index));
  cleanup.push(async () => opened[Symbol.asyncDispose]());
  return opened;
}

const QUESTIONS = {
  "/v1/chat/completions": { model: "asked", messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { model: "asked", input: [{ role: "user", content: "hi" }] },
  "/v1/messages": { model: "asked", max_tokens: 10, messages: [{ role: "user", content: "hi" }] },
};
const streamed = { stream: true, stream_options: { include_usage: true } };

describe.each(Object.entries(QUESTIONS))("%s", (path, question) => {
  test("passes question and answer on, streamed or whole, and counts both alike; only the endpoint sees the key", async () => {
    const scripted = await model(() => ({ text: "hello", inputTokens: 100, outputTokens: 20 }));
    const { gateway, lines, ask } = await open(scripted.url);
    gateway.begin(2, 1);
    const direct = await fetch(`${scripted.url}${path}`, { method: "POST", body: JSON.stringify(question) });
    const whole = await ask(path, question);
    expect(JSON.parse((await whole.text()).replaceAll(/"id":"[^"]*"/gu, `"id":""`))).toEqual(
      JSON.parse((await direct.text()).replaceAll(/"id":"[^"]*"/gu, `"id":""`)),
    );
    const stream = await ask(`${path}?beta=true`, { ...question, ...streamed });
    expect(await stream.text()).toContain("data: ");
    const account = await gateway.finish();
    expect(account).toMatchObject({ calls: 2, answered: 2, limit: null, lastError: null, costUsd: 280e-6 });
    expect(account?.usage).toEqual({ calls: 2, inputTokens: 200, cachedInputTokens: 0, outputTokens: 40 });
    expect(
      lines.map(({ request, isStreamed, modelAsked, modelReturned, end }) => [
        request,
        isStreamed,
        modelAsked,
        modelReturned,
        end,
      ]),
    ).toEqual([
      [2, false, "asked", "scripted-1", "complete"],
      [2, true, "asked", "scripted-1", "complete"],
    ]);
    const shown = scripted.calls
      .slice(1)
      .map(({ headers }) => `${headers.authorization} ${String(headers["x-api-key"])}`);
    for (const headers of shown) expect(headers).toContain(REAL_KEY);
    for (const headers of shown) expect(headers).not.toContain(gateway.placeholderKey);
    expect(JSON.stringify(lines)).not.toContain(REAL_KEY);
  });

  test("a used-up budget answers 400 in the API's own shape and says which clock fired", async () => {
    const scripted = await model(() => ({ text: "x" }));
    const { gateway, lines, ask } = await open(scripted.url, { budgets: { request: { calls: 1 }, app: {}, run: {} } });
    gateway.begin(1, 1);
    await (await ask(path, question)).text();
    const refused = await ask(path, question);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { type: "invalid_request_error", code: "budget_exhausted" } });
    expect((await gateway.finish())?.limit).toEqual({ clock: "llm_calls", value: 1, max: 1, scope: "request" });
    expect(lines[1]).toMatchObject({ end: "refused", error: { class: "budget" } });
    expect(scripted.calls).toHaveLength(1);
    // The next request has a budget of its own.
    gateway.begin(2, 1);
    expect((await ask(path, question)).status).toBe(200);
  });
});

const CHAT = "/v1/chat/completions";

test("tokens and dollars are limited over the app and the run, also over what a resumed run spent before", async () => {
  const scripted = await model(() => ({ text: "x", inputTokens: 1000, outputTokens: 0 }));
  const runMeter = new Meter();
  runMeter.resume({ usage: { calls: 3 }, costUsd: 0.0005 });
  const { gateway, ask } = await open(scripted.url, {
    runMeter,
    budgets: { request: {}, app: { tokens: 3000 }, run: { usd: 0.0025 } },
  });
  gateway.begin(1, 1);
  for (const _ of [1, 2]) expect((await ask(CHAT, QUESTIONS[CHAT])).status).toBe(200);
  expect((await ask(CHAT, QUESTIONS[CHAT])).status).toBe(400);
  expect((await gateway.finish())?.limit).toEqual({ clock: "cost_usd", value: 0.0025, max: 0.0025, scope: "run" });
});

test("errors pass as they are, once, with their class, and without the key that an endpoint repeats", async () => {
  const scripted = await model((index) => ({
    status: [401, 429, 503, 400][index] ?? 500,
    errorBody: { error: { message: `bad key ${REAL_KEY}`, code: `code${index}` } },
  }));
  const { gateway, lines, ask } = await open(`${scripted.url}/v1/`);
  gateway.begin(1, 1);
  const answers = [];
  for (let asked = 0; asked < 4; asked += 1) answers.push(await ask("/chat/completions", QUESTIONS[CHAT]));
  expect(answers.map(({ status }) => status)).toEqual([401, 429, 503, 400]);
  expect(await answers[0]?.text()).toContain("bad key [masked]");
  expect(lines.map(({ error }) => error)).toEqual([
    { class: "auth", code: "code0" },
    { class: "rate_limit", code: "code1" },
    { class: "server", code: "code2" },
    { class: "bad_request", code: "code3" },
  ]);
  expect(await gateway.finish()).toMatchObject({ calls: 4, answered: 0, lastError: { class: "bad_request" } });
});

test("an endpoint that is not there is a 502 of class network; a cut answer is cut for the agent too", async () => {
  const dead = await open("http://127.0.0.1:1");
  dead.gateway.begin(1, 1);
  const answer = await dead.ask(CHAT, QUESTIONS[CHAT]);
  expect(answer.status).toBe(502);
  expect(dead.lines).toMatchObject([{ status: 502, error: { class: "network", code: "ECONNREFUSED" } }]);
  const cutting = await model(() => ({ text: "a long answer", isCut: true }));
  const { gateway, lines, ask } = await open(cutting.url);
  gateway.begin(1, 1);
  const stream = await ask(CHAT, { ...QUESTIONS[CHAT], ...streamed });
  await expect(stream.text()).rejects.toThrow();
  expect(await gateway.finish()).toMatchObject({ answered: 1, lastError: { class: "cut" }, costUsd: null });
  expect(lines).toMatchObject([{ end: "cut", hasOutput: true, usage: null }]);
});

test("an agent that goes away stops the call at the endpoint, and the call is on record", async () => {
  const silent = await model(() => ({ isSilent: true }));
  const { gateway, lines, url } = await open(silent.url);
  gateway.begin(1, 1);
  const stop = new AbortController();
  const asking = fetch(`${url}${CHAT}`, {
    method: "POST",
    headers: { "x-api-key": gateway.placeholderKey },
    body: JSON.stringify(QUESTIONS[CHAT]),
    signal: stop.signal,
  });
  await expect.poll(() => silent.calls.length).toBe(1);
  stop.abort();
  await expect(asking).rejects.toThrow();
  expect(await gateway.finish()).toMatchObject({ calls: 1, answered: 0, lastError: null });
  expect(lines).toMatchObject([{ end: "client_gone", status: null }]);
});

test("nothing is served to another key, on another path or between two requests", async () => {
  const scripted = await model(() => ({ text: "x" }));
  const { gateway, ask, url } = await open(scripted.url);
  expect((await ask(CHAT, QUESTIONS[CHAT])).status).toBe(400);
  gateway.begin(1, 1);
  expect((await ask(CHAT, QUESTIONS[CHAT], REAL_KEY)).status).toBe(401);
  expect((await ask(CHAT, QUESTIONS[CHAT], "")).status).toBe(401);
  for (const path of ["/v1/embeddings", "/", "/v1/../admin", "//evil.test/v1/messages"]) {
    expect((await ask(path, QUESTIONS[CHAT])).status).toBe(404);
  }
  expect(scripted.calls).toHaveLength(0);
  const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${gateway.placeholderKey}` } });
  expect(await models.json()).toMatchObject({ data: [{ id: "scripted-1" }] });
  expect((await ask(`/r/run/app-0001/1${CHAT}`, QUESTIONS[CHAT])).status).toBe(200);
  expect(await gateway.finish()).toMatchObject({ calls: 1 });
});
