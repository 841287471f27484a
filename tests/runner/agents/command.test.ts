import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentSession } from "../../../src/runner/agent.ts";
import { createCommandAgent } from "../../../src/runner/agents/command.ts";
import { openLocalSandbox } from "../../../src/runner/local-sandbox.ts";
import type { Place, Sandbox } from "../../../src/runner/sandbox.ts";

let folder: string;
let sandbox: Sandbox;
let place: Place;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-command-"));
  sandbox = await openLocalSandbox({ runId: "command-test", tmpDir: folder });
  place = await sandbox.open({ label: "agent", limits: { memoryBytes: 2 ** 30, cpus: 1, pids: 100 } });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const limits = { timeoutMs: 20_000, maxOutputBytes: 64 * 1024 };
const signal = new AbortController().signal;
const open = (command: string, timeoutMs = limits.timeoutMs): Promise<AgentSession> =>
  createCommandAgent(command).open({
    model: null,
    session: "continue",
    rowId: "1",
    place,
    preamble: "fixed",
    limits: { ...limits, timeoutMs },
  });

// Texts that look like code, templates or options (each stands for a way in which a shell or a parser could eat it).
const ODD_TEXTS = [
  "```js\nconsole.log(`${process.env.HOME}`)\n```",
  "$(whoami) `id` $HOME ${PATH} %PATH%",
  "{{ mustache }} <%= erb %> #{ruby}",
  "C:\\new\\table\\u0041 \\n",
  "line\u2028separator\u2029here",
  "--help",
  "-rf /",
  "  outer blanks  \n\n",
  "'; rm -rf / #\"",
];

test.each(ODD_TEXTS)(
  "the request %j reaches the command byte for byte, on standard input and in the file",
  async (text) => {
    await using session = await open('cat > stdin.txt; cat "$EVOWEB_REQUEST_FILE" > file.txt');
    const turn = await session.handle({ request: 3, text }, signal);
    expect(turn).toMatchObject({ status: "completed", responded: true, exitCode: 0 });
    expect(await readFile(join(place.root, "stdin.txt"), "utf8")).toBe(text);
    expect(await readFile(join(place.root, "file.txt"), "utf8")).toBe(text);
  },
);

test("the command runs in the workspace and knows the request's number and the preamble, not where the harness lives", async () => {
  await using session = await open(
    'pwd; echo "$EVOWEB_REQUEST $EVOWEB_PREAMBLE"; env | grep -c EVOWEB_AGENT_COMMAND || true',
  );
  const { reply } = await session.handle({ request: 7, text: "x" }, signal);
  expect(reply).toBe(`${place.root}\n7 fixed\n0\n`);
});

test("a failing command is the agent's crash, with its exit code", async () => {
  await using session = await open("echo sorry >&2; exit 7");
  const turn = await session.handle({ request: 1, text: "x" }, signal);
  expect(turn).toMatchObject({ status: "crashed", exitCode: 7, reply: null });
  expect(turn.log).toContain("sorry");
});

test("a command over its time is stopped, and the limit that fired is recorded", async () => {
  await using session = await open("sleep 30", 500);
  const turn = await session.handle({ request: 1, text: "x" }, signal);
  expect(turn).toMatchObject({ status: "time_limit", limit: { clock: "wall_ms", max: 500 } });
  expect(turn.limit?.value).toBeGreaterThanOrEqual(500);
});

test("an agent without a command is refused", () => {
  expect(() => createCommandAgent(" ")).toThrow("--command");
});
