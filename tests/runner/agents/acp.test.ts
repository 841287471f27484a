import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acpAgent } from "../../../src/runner/agents/acp.ts";
import { createProcessAgent } from "../../../src/runner/agents/process-agent.ts";
import { openLocalSandbox } from "../../../src/runner/local-sandbox.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { runAgent } from "../../agents/run-agent.ts";

/** An agent of the protocol that asks before it writes, and keeps its sessions as files of HOME. */
const TOY = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const update = (sessionId, update) => send({ method: "session/update", params: { sessionId, update } });
const file = (id) => process.env.HOME + "/" + id;
let asked;
async function answer({ id, params: { sessionId, prompt } }) {
  appendFileSync(file(sessionId), prompt[0].text + "\\n");
  const said = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.OPENAI_API_KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: readFileSync(file(sessionId), "utf8") }] }),
  });
  const { choices } = await said.json();
  update(sessionId, { sessionUpdate: "tool_call", toolCallId: "t1", title: "write", kind: "edit", rawInput: { path: "log.txt" } });
  const options = [{ optionId: "no", kind: "reject_once" }, { optionId: "yes", kind: "allow_once" }];
  send({ id: 900, method: "session/request_permission", params: { sessionId, options } });
  const { outcome } = await new Promise((resolve) => (asked = resolve));
  appendFileSync("log.txt", outcome.optionId + "\\n");
  const content = [{ type: "content", content: { type: "text", text: "written" } }];
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed", content });
  for (const text of choices[0].message.content.split(/(?= )/)) {
    update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }
  send({ id, result: { stopReason: "end_turn" } });
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  else if (method === "session/new") send({ id, result: { sessionId: "s-" + process.pid } });
  else if (method === "session/load" && existsSync(file(params.sessionId))) {
    update(params.sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "OLD WORDS" } });
    send({ id, result: null });
  } else if (method === "session/prompt") answer({ id, params });
  else if (id === 900) asked(result);
  else send({ id, error: { code: -32602, message: "no such session" } });
});
setInterval(() => {}, 1000);
`;

let folder: string;
let sandbox: Sandbox;
let toy: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-acp-"));
  toy = join(folder, "toy-acp.mjs");
  await writeFile(toy, TOY);
  sandbox = await openLocalSandbox({ runId: "acp-test", tmpDir: folder });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("an agent of the protocol works on two requests in one session, is allowed all, and leaves no process", async () => {
  const agent = createProcessAgent(acpAgent(`node ${toy}`, []));
  const script = () => ({ text: "all done" });
  await runAgent({ agent, sandbox, script, requests: ["ONE", "TWO"] }, async ({ turns, accounts, calls, place }) => {
    expect(turns, turns.at(-1)?.log).toMatchObject([
      { status: "completed", reply: "all done", nudges: 0 },
      { status: "completed", reply: "all done", nudges: 0 },
    ]);
    expect(await readFile(join(place.root, "log.txt"), "utf8")).toBe("yes\nyes\n");
    expect(calls[1]?.conversation).toMatch(/ONE.*TWO/u);
    expect(accounts).toMatchObject([{ calls: 1 }, { calls: 1 }]);
    const observation = { results: [{ source_call_id: "t1", content: "written" }] };
    expect(turns[1]?.steps).toMatchObject([
      { source: "user" },
      { tool_calls: [{ function_name: "edit", arguments: { path: "log.txt" } }], observation },
      { message: "all done" },
    ]);
    expect(await place.endProcesses(0)).toEqual([]);
  });
}, 60_000);

test("an agent that ends before it answers has crashed", async () => {
  const agent = createProcessAgent(acpAgent("false", []));
  await runAgent({ agent, sandbox, script: () => ({}), requests: ["ONE"] }, ({ turns }) => {
    expect(turns).toMatchObject([{ status: "crashed", reply: null, exitCode: 1 }]);
    expect(turns[0]?.log).toContain("the agent has ended before it answered initialize");
  });
}, 60_000);

test("an empty command is refused", () => {
  expect(() => acpAgent(" ", [])).toThrow("--command");
});
