import { expect, test } from "vitest";
import { faultOf } from "../../src/judge/model-fault.ts";
import { ModelError, type FiredLimit } from "../../src/model/chat.ts";

const usage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

test("a limit of ours is a budget, and its class says which limit", () => {
  const limit: FiredLimit = { unit: "usd", per: "app", limit: 1, measured: 1.2 };
  expect(faultOf(new ModelError("budget", "stopped", { usage, limit }))).toStrictEqual({
    cause: "budget",
    class: "model_budget_usd_per_app",
    text: "stopped",
  });
});

test("an endpoint that fails is infrastructure, a reply of no use is the judge's error", () => {
  expect(faultOf(new ModelError("network", "gone", { usage }))).toMatchObject({
    cause: "infra",
    class: "model_network",
  });
  expect(faultOf(new ModelError("malformed", "no", { usage }))).toMatchObject({
    cause: "judge_error",
    class: "malformed_reply",
  });
});
