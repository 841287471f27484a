/**
 * A client of the Agent Client Protocol that runs beside the agent: it starts the command in its arguments, goes on with the
 * session in ACP_SESSION or begins one, sends standard input as a prompt, allows everything that it is asked for, and
 * prints what it hears as JSON lines.
 */
export const ACP_PROGRAM = String.raw`
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

const GRACE_MS = 5000;
const prompt = await text(process.stdin);
const [command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached: true });
const say = (line) => console.log(JSON.stringify(line));
const send = (message) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const waiting = new Map();
const gone = new Promise((resolve) => agent.on("exit", resolve).on("error", resolve));
agent.stdin.on("error", () => {});
let isPrompted = false;
let calls = 0;

function ask(method, params) {
  const id = (calls += 1);
  send({ id, method, params });
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    gone.then(() => reject(new Error("the agent has ended before it answered " + method)));
  });
}

function permit({ id, params: { options = [] } }) {
  const option = ["allow_always", "allow_once"].map((kind) => options.find((o) => o.kind === kind)).find(Boolean);
  const outcome = option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId };
  send({ id, result: { outcome } });
}

function hear(message) {
  const { id, method, params, result, error } = message;
  if (method === "session/update") {
    // A loaded session tells its past first.
    if (isPrompted) say({ type: "update", ...params });
  } else if (method === "session/request_permission") permit(message);
  else if (method !== undefined && id !== undefined) send({ id, error: { code: -32601, message: "not offered" } });
  else if (error !== undefined) waiting.get(id)?.reject(Object.assign(new Error(error.message), error));
  else waiting.get(id)?.resolve(result);
}

createInterface({ input: agent.stdout }).on("line", (line) => {
  if (!line.startsWith("{")) return;
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  hear(message);
});

async function openSession() {
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const { agentCapabilities } = await ask("initialize", { protocolVersion: 1, clientCapabilities });
  const place = { cwd: process.cwd(), mcpServers: [] };
  const sessionId = process.env.ACP_SESSION ?? "";
  if (sessionId === "") return (await ask("session/new", place)).sessionId;
  if (agentCapabilities?.loadSession !== true) throw new Error("it cannot load a session: use --session fresh");
  await ask("session/load", { sessionId, ...place });
  return sessionId;
}

try {
  const sessionId = await openSession();
  say({ type: "session", sessionId });
  isPrompted = true;
  const { stopReason } = await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
  say({ type: "stop", stopReason });
} catch (error) {
  say({ type: "error", code: error.code ?? null, message: error.message });
  process.exitCode = 1;
}
const end = (signal) => {
  try {
    process.kill(-agent.pid, signal);
  } catch {}
};
agent.stdin.end();
end("SIGTERM");
const timer = setTimeout(() => end("SIGKILL"), GRACE_MS);
await gone;
clearTimeout(timer);
end("SIGKILL");
process.exit();
`;
