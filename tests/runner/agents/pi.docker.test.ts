import { afterAll, beforeAll, expect, test } from "vitest";
import { piAgent } from "../../../src/runner/agents/pi.ts";
import { createProcessAgent } from "../../../src/runner/agents/process-agent.ts";
import { ensureAgentImage } from "../../../src/runner/docker/agent-image.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { REAL_KEY, runAgent } from "../../agents/run-agent.ts";
import type { ScriptedCall, ScriptedReply } from "../../agents/scripted-model.ts";
import { describeWithDocker, openTestSandbox } from "../docker/engine.ts";

const caFile = process.env["EVOWEB_CA_FILE"];

describeWithDocker("the real pi in its image", () => {
  let sandbox: Sandbox;
  let image: string;
  beforeAll(async () => {
    sandbox = await openTestSandbox();
    image = (await ensureAgentImage(piAgent, caFile === undefined ? {} : { caFile })).tag;
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());
  const agent = createProcessAgent(piAgent);
  const append = ({ isAfterTool }: ScriptedCall): ScriptedReply =>
    isAfterTool
      ? { text: "done" }
      : { tools: [{ name: "bash", args: { command: "echo x >> log.txt; env > env.txt" } }] };

  test.each([
    ["continue", true],
    ["fresh", false],
  ] as const)(
    "%s: request 2 knows request 1: %s; usage is the gateway's, the key is nowhere",
    async (session, knows) => {
      const requests = ["FIRST", "SECOND"];
      await runAgent(
        { agent, sandbox, image, script: append, requests, session },
        async ({ place, turns, accounts, calls }) => {
          expect(turns).toMatchObject([
            { status: "completed", outcome: "answered", reply: "done", nudges: 0 },
            { status: "completed", outcome: "answered", reply: "done", nudges: 0 },
          ]);
          expect(accounts).toMatchObject([
            { usage: { calls: 2, inputTokens: 20, outputTokens: 10 } },
            { usage: { calls: 2 } },
          ]);
          expect(calls.at(-1)?.conversation.includes("FIRST")).toBe(knows);
          const look = `cat log.txt; grep -rqs "$1" . ${place.stateRoot} /proc/self/environ && echo key`;
          const { stdout } = await place.exec({ argv: ["/bin/sh", "-c", look, "look", REAL_KEY], timeoutMs: 20_000 });
          expect(stdout.text).toBe("x\nx\n");
          expect(turns[0]?.steps).toMatchObject([
            { source: "user" },
            { tool_calls: [{ function_name: "bash" }] },
            { message: "done" },
          ]);
        },
      );
    },
  );

  test("the call limit and a refused key are told from its events and the gateway's, not from its exit code", async () => {
    const loops = (): ScriptedReply => ({ tools: [{ name: "bash", args: { command: "true" } }] });
    await runAgent({ agent, sandbox, image, script: loops, requests: ["loop"], callsPerRequest: 3 }, ({ turns }) => {
      expect(turns).toMatchObject([{ status: "step_limit", limit: { clock: "llm_calls", max: 3 }, responded: true }]);
    });
    await runAgent({ agent, sandbox, image, script: () => ({ status: 401 }), requests: ["x"] }, ({ turns }) => {
      expect(turns).toMatchObject([{ status: "model_api", outcome: "provider_error", responded: false }]);
    });
  });
});
