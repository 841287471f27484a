import { expect, test } from "vitest";
import { createConcurrency } from "../../src/model/concurrency.ts";
import { context, openScriptedModel, question } from "./open-model.ts";
import { REFUSED } from "./scripted-server.ts";

const never = new AbortController().signal;

test("it grows by one after as many clean calls as there are places, with all in use", async () => {
  const limit = createConcurrency({ start: 2, max: 3 }, () => {});
  await limit.acquire(never);
  limit.wentWell();
  limit.wentWell();
  expect(limit.history).toHaveLength(1);
  await limit.acquire(never);
  for (let call = 0; call < 9; call += 1) limit.wentWell();
  expect(limit.history.map((change) => [change.limit, change.reason])).toStrictEqual([
    [2, "start"],
    [3, "grow"],
  ]);
});

test("it is halved once for each episode and never below one", () => {
  let nowMs = 0;
  const limit = createConcurrency({ start: 8, cooldownMs: 100, now: () => nowMs }, () => {});
  for (const atMs of [0, 10, 99, 100, 150, 200, 300, 400]) {
    nowMs = atMs;
    limit.wasLimited();
  }
  expect(limit.history.map(({ atMs, limit: places }) => [atMs, places])).toStrictEqual([
    [0, 8],
    [0, 4],
    [100, 2],
    [200, 1],
  ]);
});

test("who waits for a place gets one when it is given back, or leaves with the signal's reason", async () => {
  const limit = createConcurrency({ start: 1 }, () => {});
  const release = await limit.acquire(never);
  const stop = new AbortController();
  const left = limit.acquire(stop.signal);
  const next = limit.acquire(never);
  stop.abort(new Error("stopped"));
  await expect(left).rejects.toThrow("stopped");
  release();
  await expect(next).resolves.toBeTypeOf("function");
});

test("an endpoint never has more calls under way than its places, and fewer after a rate limit", async () => {
  await using opened = await openScriptedModel(
    ({ index }) => (index === 0 ? REFUSED.rateLimit({ "retry-after-ms": "1" }) : "ok"),
    {
      concurrency: { start: 4, max: 4 },
    },
  );
  await Promise.all(Array.from({ length: 20 }, () => opened.model.chat(question(), context())));
  expect(opened.server.mostAtOnce()).toBeLessThanOrEqual(4);
  expect(opened.model.limitHistory.slice(0, 2)).toMatchObject([
    { limit: 4, reason: "start" },
    { limit: 2, reason: "cut" },
  ]);
});
