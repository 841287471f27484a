// Runs inside the sidecar container, under the image's Node, as one file passed on the command line: built-in modules only.
// It joins the app's network namespace and is the only thing there that can speak to the harness.
import { existsSync, readFileSync } from "node:fs";
import net from "node:net";

const CONTROL_SOCKET = "/evoweb/out/h.sock";
const EGRESS_SOCKET = "/evoweb/out/e.sock";
const GATEWAY_SOCKET = "/evoweb/out/g.sock";
const CONNECT_SOCKET = "/evoweb/in/c.sock";
const [appUid = "", egressPort = "", guardPort = "", gatewayPort = ""] = process.argv.slice(-4);
const RESCAN_MS = 20;
const LISTEN_STATE = "0A";

interface Seen {
  readonly port: number;
  readonly address: string;
}

/** "0100007F" or 32 digits: little-endian words, as the kernel prints addresses. */
function address(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff) {
    return bytes.subarray(12).join(".");
  }
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(":");
  if (groups === "0:0:0:0:0:0:0:0") return "::";
  return groups === "0:0:0:0:0:0:0:1" ? "::1" : groups;
}

function listenersOf(table: string): Seen[] {
  const found: Seen[] = [];
  for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
    const [, local = "", , state, , , , uid] = line.trim().split(/\s+/);
    if (state !== LISTEN_STATE || uid !== appUid) continue;
    const [host = "", port = ""] = local.split(":");
    found.push({ address: address(host), port: Number.parseInt(port, 16) });
  }
  return found;
}

let seen: readonly Seen[] = [];
let seenAt = Number.NEGATIVE_INFINITY;
function scan(): readonly Seen[] {
  seen = [...listenersOf("/proc/self/net/tcp"), ...listenersOf("/proc/self/net/tcp6")];
  seenAt = performance.now();
  return seen;
}

/** Joins two sockets. A side that has only ended its half is not cut: its reply is still on the way. */
function join(one: net.Socket, other: net.Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}

function dialable(port: number): string[] {
  // A page opens many connections at once; one look serves them all.
  const recent = performance.now() - seenAt > RESCAN_MS ? scan() : seen;
  const hosts = recent
    .filter((listener) => listener.port === port)
    .flatMap((listener) =>
      listener.address === "0.0.0.0"
        ? ["127.0.0.1"]
        : listener.address === "::"
          ? ["127.0.0.1", "::1"]
          : [listener.address],
    );
  return [...new Set(hosts)];
}

function dial(port: number, hosts: readonly string[], answer: (socket: net.Socket | undefined) => void): void {
  const [host, ...others] = hosts;
  if (host === undefined) return answer(undefined);
  const socket = net.connect({ host, port, allowHalfOpen: true });
  socket.once("connect", () => {
    socket.removeAllListeners("error");
    answer(socket);
  });
  socket.once("error", () => dial(port, others, answer));
}

/** An inward connection starts with a line that holds the port. */
function inward(client: net.Socket): void {
  client.on("error", () => {});
  let head = Buffer.alloc(0);
  const readHead = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf("\n");
    if (end < 0 && head.length > 16) client.destroy();
    if (end < 0) return;
    client.off("data", readHead).pause();
    const port = Number(head.subarray(0, end).toString());
    dial(port, dialable(port), (app) => {
      if (app === undefined) {
        client.end("refused\n");
        return;
      }
      client.write("ok\n");
      if (head.length > end + 1) app.write(head.subarray(end + 1));
      join(client, app);
    });
  };
  client.on("data", readHead);
}

const control = net.connect(CONTROL_SOCKET);
const say = (message: unknown): void => void control.write(`${JSON.stringify(message)}\n`);
// Dead man: when the harness is gone, so are we, and the app container's guard follows.
control.on("close", () => process.exit(0)).on("error", () => process.exit(0));

let guard: net.Socket | undefined;
const asked: number[] = [];
function lines(socket: net.Socket, onLine: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) onLine(line);
  });
}
lines(control, (line) => {
  const { id, op } = JSON.parse(line) as { id: number; op: string };
  if (op === "listeners") {
    say({ id, value: scan() });
  } else {
    asked.push(id);
    guard?.write(`${op}\n`);
  }
});

const inwardServer = net.createServer({ allowHalfOpen: true }, inward);
const outwardServer = (path: string): net.Server =>
  net.createServer({ allowHalfOpen: true }, (client) => join(client, net.connect({ path, allowHalfOpen: true })));
// Only the first comer is the guard: it connects before any program of an agent or app runs in this namespace.
const guardServer = net.createServer((socket) => {
  if (guard !== undefined) {
    socket.destroy();
    return;
  }
  guard = socket;
  guardServer.close();
  lines(socket, (line) => say({ id: asked.shift(), value: line }));
  socket.on("error", () => {}).on("close", () => say({ event: "guard_gone" }));
  say({ event: "guard" });
});
const listenOn = (server: net.Server, port: string): Promise<void> =>
  new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
await new Promise<void>((resolve) => inwardServer.listen(CONNECT_SOCKET, resolve));
await listenOn(outwardServer(EGRESS_SOCKET), egressPort);
// Only the place of an agent has a way to a model.
if (existsSync(GATEWAY_SOCKET)) await listenOn(outwardServer(GATEWAY_SOCKET), gatewayPort);
await listenOn(guardServer, guardPort);
say({ event: "ready" });
