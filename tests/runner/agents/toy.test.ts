import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProcessAgent } from "../../../src/runner/agents/process-agent.ts";
import type { AgentSpec } from "../../../src/runner/agents/spec.ts";
import { openLocalSandbox } from "../../../src/runner/local-sandbox.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";
import { runAgent } from "../../agents/run-agent.ts";

const DRIVER = `
const { readFileSync, appendFileSync } = require("node:fs");
(async () => {
  const prompt = readFileSync(0, "utf8");
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.LLM_API_KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: process.argv[2], messages: [{ role: "user", content: prompt }] }),
  });
  appendFileSync("index.html", (await answer.json()).choices[0].message.content + "\\n");
  console.log(process.argv.slice(3).join(" "));
})();
`;

/** The whole of an agent, as docs/agents.md goes through it. */
const toyAgent: AgentSpec = {
  name: "toy",
  version: "1.0.0",
  canContinue: true,
  layer: { dockerfile: [], selfTest: ["node", "--version"] },
  files: () => ({ "driver.cjs": DRIVER }),
  command: ({ prompt, stateRoot, model, isFirst, agentSessionId }) => ({
    argv: ["node", join(stateRoot, "driver.cjs"), model.name, isFirst ? "first" : "later", agentSessionId ?? "none"],
    stdin: prompt,
  }),
  read: ({ stdout }) => ({ outcome: null, finalText: stdout.text.trim(), toolCalls: null, sessionId: "toy-session" }),
};

let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-toy-"));
  sandbox = await openLocalSandbox({ runId: "toy-test", tmpDir: folder });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("an agent of one file works on two requests, knows its session and is counted", async () => {
  const script = () => ({ text: "<p>hi</p>" });
  const agent = createProcessAgent(toyAgent);
  await runAgent({ agent, sandbox, script, requests: ["ONE", "TWO"] }, ({ turns, accounts, calls }) => {
    expect(turns.map(({ reply, status, nudges }) => [reply, status, nudges])).toEqual([
      ["first none", "completed", 0],
      ["later toy-session", "completed", 0],
    ]);
    expect(accounts.map((account) => account?.calls)).toEqual([1, 1]);
    expect(calls.map(({ conversation }) => conversation.includes("PREAMBLE"))).toEqual([true, false]);
  });
});
