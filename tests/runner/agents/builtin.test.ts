import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Turn } from "../../../src/runner/agent.ts";
import { askGateway } from "../../../src/runner/agent-gateway.ts";
import { createBuiltinAgent } from "../../../src/runner/agents/builtin.ts";
import { Gateway, type RequestAccount } from "../../../src/runner/gateway/gateway.ts";
import { Meter } from "../../../src/runner/gateway/meter.ts";
import { openLocalSandbox } from "../../../src/runner/local-sandbox.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { openScriptedModel, type ScriptedCall, type ScriptedReply } from "../../agents/scripted-model.ts";

let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-builtin-"));
  sandbox = await openLocalSandbox({ runId: "builtin-test", tmpDir: folder });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Asked {
  readonly requests?: readonly string[];
  readonly session?: "continue" | "fresh";
  readonly calls?: number;
}

interface Outcome {
  readonly turns: readonly Turn[];
  readonly accounts: readonly (RequestAccount | null)[];
  readonly calls: readonly ScriptedCall[];
  readonly file: (path: string) => Promise<string>;
}

/** Lets the agent handle requests; `use` looks at what came of it before all is removed. */
async function work(
  script: (call: ScriptedCall) => ScriptedReply,
  { requests = ["do it"], session = "continue", calls }: Asked,
  use: (outcome: Outcome) => Promise<void> | void,
): Promise<void> {
  await using model = await openScriptedModel(script);
  const gateway = new Gateway({
    upstreams: { openai: { baseUrl: model.url, apiKey: "sk-the-real-key" } },
    budgets: { request: { calls }, app: {}, run: {} },
    runMeter: new Meter(),
    priceOf: () => null,
    record: () => {},
    mask: (text) => text,
  });
  const limits = { memoryBytes: 2 ** 30, cpus: 1, pids: 100 };
  await using place = await sandbox.open({ label: "agent", limits, gateway: gateway.server });
  await using agent = await createBuiltinAgent().open({
    rowId: "1",
    place,
    preamble: "PREAMBLE",
    limits: { timeoutMs: 60_000, maxOutputBytes: 64 * 1024 },
    session,
    model: {
      name: "m",
      url: place.gatewayUrl ?? "",
      apiKey: gateway.placeholderKey,
      account: () => gateway.account(),
      ask: askGateway(gateway),
    },
  });
  const turns: Turn[] = [];
  const accounts: (RequestAccount | null)[] = [];
  for (const [index, text] of requests.entries()) {
    gateway.begin(index + 1, 1);
    turns.push(await agent.handle({ request: index + 1, text }, new AbortController().signal));
    accounts.push(await gateway.finish());
  }
  await use({ turns, accounts, calls: model.calls, file: (path) => readFile(join(place.root, path), "utf8") });
}

const bash = (command: string): ScriptedReply => ({ tools: [{ name: "bash", args: { command } }] });
const oneTool =
  (command: string) =>
  ({ isAfterTool }: ScriptedCall): ScriptedReply =>
    isAfterTool ? { text: "done" } : bash(command);

test.each([
  ["continue", true],
  ["fresh", false],
] as const)("%s: a conversation begins with the preamble; request 2 knows request 1: %s", async (session, knows) => {
  await work(
    oneTool("echo x >> log.txt"),
    { requests: ["FIRST", "SECOND"], session },
    async ({ turns, calls, file, accounts }) => {
      expect(turns.map(({ status, outcome, nudges, reply }) => [status, outcome, nudges, reply])).toEqual(
        Array.from({ length: 2 }, () => ["completed", "answered", 0, "done"]),
      );
      expect(await file("log.txt")).toBe("x\nx\n");
      const last = calls.at(-1)?.conversation ?? "";
      expect(last.includes("FIRST")).toBe(knows);
      expect(last).toContain("Time left for this request: 1 min");
      expect(last.match(/PREAMBLE/gu)).toHaveLength(1);
      expect(accounts[1]).toMatchObject({ calls: 2, answered: 2, usage: { inputTokens: 20, outputTokens: 10 } });
      expect(turns[0]?.steps?.map(({ source }) => source)).toEqual(["user", "agent", "agent"]);
    },
  );
});

test("B26: a question gets two nudges with the same words and the turn ends", async () => {
  await work(
    () => ({ text: "Shall I go on?" }),
    {},
    ({ turns, calls }) => {
      expect(turns).toMatchObject([{ status: "completed", nudges: 2, reply: "Shall I go on?" }]);
      expect(calls).toHaveLength(3);
      expect(calls[2]?.conversation.match(/Nobody answers questions\. Decide/gu)).toHaveLength(2);
    },
  );
});

test("B29 and B31: a server may stay in the background; a command at its limit is ended with its children", async () => {
  const replies = [
    bash("sleep 600 & echo started"),
    { tools: [{ name: "bash", args: { command: "trap '' TERM; sleep 601 & sleep 602", timeout_s: 1 } }] },
    bash("pgrep -f 'sleep 60[12]' || echo none; pgrep -fx 'sleep 600' > /dev/null && echo server"),
    { text: "ok" },
  ];
  await work(
    ({ index }) => replies[index] ?? {},
    {},
    ({ turns }) => {
      expect(turns[0]?.log).toContain("[exit code 0]\nstarted");
      expect(turns[0]?.log).toContain("stopped after 1 s, with all it had started");
      expect(turns[0]?.log).toMatch(/server\n/u);
    },
  );
});

test("B35: arguments that cannot be read are answered one by one and never come back in the history", async () => {
  const replies: ScriptedReply[] = [
    { tools: [{ name: "bash", args: '{"command": "echo\n' }] },
    {
      tools: [
        { name: "bash", args: { command: "echo good >> good.txt" } },
        { name: "bash", args: "{oops" },
      ],
    },
    { tools: [{ name: "bash", args: "[1]" }] },
    { tools: [{ name: "bash", args: "" }] },
    { text: "done" },
  ];
  await work(
    ({ index }) => replies[index] ?? {},
    {},
    async ({ turns, calls, file }) => {
      expect(turns[0]).toMatchObject({ status: "completed", reply: "done" });
      expect(await file("good.txt")).toBe("good\n");
      const messages = calls.at(-1)?.body["messages"] as { tool_calls?: { function: { arguments: string } }[] }[];
      for (const call of messages.flatMap(({ tool_calls: made = [] }) => made)) JSON.parse(call.function.arguments);
      expect(messages.filter((message) => "tool_call_id" in message)).toHaveLength(5);
      expect(turns[0]?.log).toContain("{oops");
    },
  );
});

test("limits, refusals and a dead endpoint are told apart", async () => {
  await work(
    () => bash("true"),
    { calls: 3 },
    ({ turns }) => {
      expect(turns).toMatchObject([{ status: "step_limit", responded: true, limit: { clock: "llm_calls", max: 3 } }]);
    },
  );
  await work(
    () => ({ status: 401 }),
    {},
    ({ turns }) => {
      expect(turns).toMatchObject([{ status: "model_api", outcome: "provider_error", responded: false }]);
    },
  );
  await work(
    ({ index }) => (index === 0 ? { status: 429 } : { text: "late" }),
    {},
    ({ turns }) => {
      expect(turns).toMatchObject([{ status: "completed", responded: true, reply: "late" }]);
    },
  );
});
