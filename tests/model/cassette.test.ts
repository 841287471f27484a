import { appendFileSync, readFileSync, truncateSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { openCassette, type CassetteMode } from "../../src/model/cassette.ts";
import type { CallContext, ChatRequest } from "../../src/model/chat.ts";
import { chatJson } from "../../src/model/chat-json.ts";
import { openChatModel } from "../../src/model/open-chat-model.ts";
import { createMask } from "../../src/trace/mask.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { context, failureOf, openScriptedModel, PRICES, question } from "./open-model.ts";

const image = (byte: number) =>
  ({ type: "image", mediaType: "image/png", bytes: Uint8Array.of(byte, 200, 201, 202) }) as const;
const withImage = (byte: number): ChatRequest =>
  question({ messages: [{ role: "user", content: [{ type: "text", text: "see" }, image(byte)] }] });
// Nothing listens at the discard port, so a call that is not answered from the cassette fails.
const offline = (file: string, mode: CassetteMode = "replay") =>
  openChatModel({
    name: "scripted",
    baseUrl: "http://127.0.0.1:9",
    prices: PRICES,
    retry: { retries: 0 },
    cassette: openCassette(file, { mode }),
  });

test("what was recorded replays without a server, to the last byte", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  const asks: [ChatRequest, Partial<CallContext>][] = [
    [question(), {}],
    [question(), { sample: "1.2" }],
    [question({ temperature: 1 }), {}],
    [withImage(1), {}],
    [withImage(2), {}],
  ];
  await using opened = await openScriptedModel(({ index }) => `reply ${index} é`, {
    cassette: openCassette(file, { mode: "record" }),
  });
  const live = [];
  for (const [request, where] of asks) live.push(await opened.model.chat(request, context(where)));
  expect(new Set(live.map(({ text }) => text)).size).toBe(5);
  const recorded = readFileSync(file, "utf8");
  await using replayed = offline(file);
  for (const [index, [request, where]] of asks.entries()) {
    expect(JSON.stringify(await replayed.chat(request, context({ ...where, app: "elsewhere", check: "9.9" })))).toBe(
      JSON.stringify(live[index]),
    );
  }
  expect(readFileSync(file, "utf8")).toBe(recorded);
  expect(recorded).not.toContain(Buffer.from(image(1).bytes).toString("base64"));
  expect(recorded).not.toContain(opened.server.baseUrl);
  expect(recorded).not.toContain("key-of-the-test");
});

test("a request that was never recorded fails as no_recording and takes nothing", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  await using opened = await openScriptedModel(["ok"], { cassette: openCassette(file, { mode: "record" }) });
  await opened.model.chat(question(), context());
  await using replayed = offline(file);
  expect(await failureOf(replayed.chat(question({ seed: 1 }), context()))).toMatchObject({
    failure: "no_recording",
    usage: { calls: 0, costUsd: 0 },
  });
  expect(() => openCassette(join(folder, "none.jsonl"), { mode: "replay" })).toThrow("no cassette");
});

test("auto asks only what is not stored, record asks anew and the newest counts", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  const record = async (mode: CassetteMode, text: string): Promise<readonly [string, number]> => {
    await using opened = await openScriptedModel([text], { cassette: openCassette(file, { mode }) });
    const replies = await Promise.all([1, 2].map(() => opened.model.chat(question(), context())));
    expect(replies[0]?.text).toBe(replies[1]?.text);
    return [replies[0]?.text ?? "", opened.server.calls.length];
  };
  expect((await record("auto", "first"))[0]).toBe("first");
  expect(await record("auto", "second")).toStrictEqual(["first", 0]);
  expect((await record("record", "third"))[0]).toBe("third");
  await using replayed = offline(file);
  expect((await replayed.chat(question(), context())).text).toBe("third");
});

test("refusals and malformed replies with their repairs replay as they were", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  const asked = { ...question(), json: { name: "verdict", schema: z.strictObject({ passed: z.boolean() }) } };
  await using opened = await openScriptedModel(
    ["no", '{"passed": true}', { type: "completion", content: null, refusal: "I cannot" }],
    { cassette: openCassette(file, { mode: "record" }) },
  );
  const live = await chatJson(opened.model, asked, context());
  const refused = await failureOf(opened.model.chat(question(), context()));
  await using replayed = offline(file);
  expect(await chatJson(replayed, asked, context())).toStrictEqual(live);
  const again = await failureOf(replayed.chat(question(), context()));
  expect([again.failure, again.message, again.usage]).toStrictEqual(["refusal", refused.message, refused.usage]);
});

test("secrets are not stored, and replies are given out as stored", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  const cassette = openCassette(file, { mode: "record", mask: createMask(["hunter2-secret"]) });
  await using opened = await openScriptedModel(["the word is hunter2-secret"], { cassette });
  expect((await opened.model.chat(question(), context())).text).toBe("the word is [masked]");
  expect(readFileSync(file, "utf8")).not.toContain("hunter2");
});

test("a torn last line is left out and written over; a broken one before it is an error", async () => {
  const folder = await makeTempFolder();
  const file = join(folder, "judge.jsonl");
  const ask = async (mode: CassetteMode, seed: number): Promise<string> => {
    await using opened = await openScriptedModel([`reply ${seed}`], { cassette: openCassette(file, { mode }) });
    return (await opened.model.chat(question({ seed }), context())).text;
  };
  await ask("auto", 1);
  await ask("auto", 2);
  truncateSync(file, statSync(file).size - 5);
  await using replayed = offline(file);
  expect((await replayed.chat(question({ seed: 1 }), context())).text).toBe("reply 1");
  expect((await failureOf(replayed.chat(question({ seed: 2 }), context()))).failure).toBe("no_recording");
  await ask("auto", 3);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(3);
  appendFileSync(file, "{}\n");
  expect(() => openCassette(file, { mode: "auto" })).toThrow("line 3");
});
