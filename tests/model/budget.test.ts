import { expect, test } from "vitest";
import { openChatModel } from "../../src/model/open-chat-model.ts";
import { context, failureOf, openScriptedModel, question } from "./open-model.ts";

// Each scripted reply takes 120 tokens and 0.0003 USD.
test.each([
  [{ tokensPerCheck: 300 }, "tokens", "check", 360],
  [{ tokensPerApp: 240 }, "tokens", "app", 240],
  [{ tokens: 250 }, "tokens", "run", 360],
  [{ usdPerCheck: 0.0007 }, "usd", "check", 0.0009],
  [{ usdPerApp: 0.0008 }, "usd", "app", 0.0009],
  [{ usd: 0.0005 }, "usd", "run", 0.0006],
])("%j stops within one call, naming the limit and what was measured", async (...[limits, unit, per, measured]) => {
  await using opened = await openScriptedModel(["ok"], { limits });
  let calls = 0;
  const error = await failureOf(
    (async () => {
      for (; calls < 20; calls += 1) await opened.model.chat(question(), context());
    })(),
  );
  expect(error).toMatchObject({
    failure: "budget",
    limit: { unit, per },
    usage: { calls: 0, inputTokens: 0, costUsd: 0 },
  });
  expect(error.limit?.measured).toBeCloseTo(measured, 10);
  expect(error.message).toContain(String(Object.values(limits)[0]));
  expect(opened.server.calls).toHaveLength(calls);
});

test("a limit of one check or app leaves the others alone", async () => {
  await using opened = await openScriptedModel(["ok"], { limits: { tokensPerCheck: 100, tokensPerApp: 200 } });
  await opened.model.chat(question(), context({ check: "1.1" }));
  expect((await failureOf(opened.model.chat(question(), context({ check: "1.1" })))).limit?.per).toBe("check");
  await opened.model.chat(question(), context({ check: "1.2" }));
  expect((await failureOf(opened.model.chat(question(), context({ check: "1.3" })))).limit?.per).toBe("app");
  await opened.model.chat(question(), context({ app: "app-2", check: "1.1" }));
});

test("what was spent before the opening counts per app and run", async () => {
  const spentBefore = [{ app: "app-1", tokens: 150, usd: 0 }];
  await using opened = await openScriptedModel(["ok"], { limits: { tokensPerApp: 200, tokens: 380 }, spentBefore });
  await opened.model.chat(question(), context({ check: "1.1" }));
  const ofApp = await failureOf(opened.model.chat(question(), context({ check: "1.2" })));
  expect(ofApp.limit).toMatchObject({ per: "app", measured: 270 });
  await opened.model.chat(question(), context({ app: "app-2" }));
  const ofRun = await failureOf(opened.model.chat(question(), context({ app: "app-3" })));
  expect(ofRun.limit).toMatchObject({ per: "run", measured: 390 });
});

test("calls at the same time stop within one call of the limit as well, and those under way are kept", async () => {
  await using opened = await openScriptedModel(["ok"], { limits: { tokens: 1_000 } });
  const calls = Array.from({ length: 30 }, (_, index) =>
    opened.model.chat(question(), context({ check: `1.${index}` })),
  );
  const settled = await Promise.allSettled(calls);
  const done = settled.filter(({ status }) => status === "fulfilled");
  // 8 calls take 960 tokens; the ninth passes the limit of 1000.
  expect(done).toHaveLength(9);
  expect(opened.server.calls).toHaveLength(9);
});

test("a request that surely passes the limit by itself is not sent", async () => {
  await using opened = await openScriptedModel(["ok"], { limits: { tokens: 1_000 } });
  const error = await failureOf(
    opened.model.chat(question({ messages: [{ role: "user", content: "x".repeat(20_000) }] }), context()),
  );
  expect(error).toMatchObject({ failure: "budget", limit: { limit: 1_000, measured: 0 } });
  expect(opened.server.calls).toHaveLength(0);
});

test("calls of unknown usage are booked as estimated, so a limit stops them too", async () => {
  await using opened = await openScriptedModel([{ type: "completion", content: "ok", usage: null }], {
    limits: { tokens: 200 },
  });
  await opened.model.chat(question(), context());
  await opened.model.chat(question(), context());
  expect((await failureOf(opened.model.chat(question(), context()))).failure).toBe("budget");
});

test("limits in US dollars need a price", () => {
  expect(() => openChatModel({ name: "nobody-knows", limits: { usd: 1 } })).toThrow("--price-file");
});
