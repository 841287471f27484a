import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBuiltinAgent } from "../../../src/runner/agents/builtin.ts";
import { openLocalSandbox } from "../../../src/runner/local-sandbox.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { PROPERTIES } from "../../agents/conformance.ts";
import { runAgent, type AgentRun, type AgentRunResult } from "../../agents/run-agent.ts";
import type { ScriptedCall, ScriptedReply } from "../../agents/scripted-model.ts";

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

type Asked = Partial<Pick<AgentRun, "requests" | "session" | "callsPerRequest">>;
type Outcome = AgentRunResult & { readonly file: (path: string) => Promise<string> };

/** Lets the agent handle requests; `use` looks at what came of it before all is removed. */
function work(
  script: AgentRun["script"],
  { requests = ["do it"], ...more }: Asked,
  use: (outcome: Outcome) => Promise<void> | void,
): Promise<void> {
  return runAgent({ agent: createBuiltinAgent(), sandbox, script, requests, ...more }, (result) =>
    use({ ...result, file: (path) => readFile(join(result.place.root, path), "utf8") }),
  );
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

test.each(Object.entries(PROPERTIES))(
  "conformance: %s",
  async (_, property) => {
    expect(await property({ agent: createBuiltinAgent(), sandbox })).toBe("yes");
  },
  30_000,
);

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
    { callsPerRequest: 3 },
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
