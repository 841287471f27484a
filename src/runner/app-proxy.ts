import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Place } from "./sandbox.ts";

const REFUSED_KEPT = 100;
// Headers that speak about one connection only.
const HOP_BY_HOP = new Set(["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade"]);
const DEFAULT_PORT = 80;
const IDLE_MS = 60_000;

/** HTTP proxy on the host's loopback that leads to the ports of one place and nowhere else. */
export interface AppProxy extends AsyncDisposable {
  /** "http://127.0.0.1:PORT", for a browser context; loopback names have to go through it too. */
  readonly server: string;
  /** How many requests to other hosts were refused. */
  refusedCount(): number;
  /** The first 100 different "host:port" that were refused. */
  refused(): readonly string[];
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "127.0.0.1" || name === "[::1]";
}

/** Carries bytes both ways; each side may say that it has no more while the other still speaks. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => to.destroy());
    // Destroying on every close would cut the reply of a side that has only finished asking.
    from.on("close", () => {
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
}

/** Header lines without those that end at this proxy. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has((rawHeaders[index - (index % 2)] ?? "").toLowerCase()));
}

/** The open proxy's state: where it leads, and what was refused. */
class Gate {
  readonly place: Pick<Place, "connect">;
  readonly refused = new Set<string>();
  refusedCount = 0;
  readonly sockets = new Set<Duplex>();

  constructor(place: Pick<Place, "connect">) {
    this.place = place;
  }

  /** Whether this target may be reached; counts it when not. */
  admits({ host, port }: Target): boolean {
    if (isLoopback(host)) return true;
    this.refusedCount += 1;
    if (this.refused.size < REFUSED_KEPT) this.refused.add(`${host}:${port}`);
    return false;
  }

  /** A connection into the place that is closed with the proxy. */
  async connect(port: number): Promise<Duplex> {
    return this.keep(await this.place.connect(port));
  }

  keep<S extends Duplex>(socket: S): S {
    this.sockets.add(socket);
    socket.once("close", () => this.sockets.delete(socket));
    return socket;
  }
}

function absoluteTarget(url: string): (Target & { path: string }) | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" && protocol !== "ws:") return null;
  // The path as it was written: parsing would tidy it up.
  const path = url.replace(/^[^:]*:\/\/[^/?#]*/, "");
  return {
    host: hostname,
    port: port === "" ? DEFAULT_PORT : Number(port),
    path: path.startsWith("/") ? path : `/${path}`,
  };
}

function answer(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, text, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  res.end(`${text}\n`);
}

function passResponse(incoming: IncomingMessage, res: ServerResponse): void {
  try {
    res.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming.rawHeaders));
  } catch {
    // The app sent a header that HTTP does not allow.
    incoming.destroy();
    answer(res, 502, "The app's answer is no valid HTTP");
    return;
  }
  // A stream of events may say nothing for minutes; its head must not wait for that.
  res.flushHeaders();
  incoming.pipe(res);
  incoming.on("error", () => res.destroy());
  incoming.on("close", () => {
    if (!incoming.complete) res.destroy();
  });
}

async function forward(gate: Gate, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const target = absoluteTarget(req.url ?? "");
  if (target === null) {
    answer(res, 400, "This proxy takes absolute http addresses only");
    return;
  }
  if (!gate.admits(target)) {
    answer(res, 403, "Only the app under test can be reached");
    return;
  }
  const socket = await gate.connect(target.port);
  if (res.destroyed) {
    socket.destroy();
    return;
  }
  const upstream = httpRequest({
    // No `agent` here: `agent: false` would make Node ignore `createConnection` and dial the host's own loopback.
    createConnection: () => socket,
    method: req.method ?? "GET",
    path: target.path,
    headers: [...endToEnd(req.rawHeaders), "connection", "close"] as unknown as Record<string, string>,
    setHost: false,
    insecureHTTPParser: true,
  });
  upstream.on("response", (incoming) => passResponse(incoming, res));
  upstream.on("error", () => res.destroy());
  res.on("close", () => {
    if (!res.writableFinished) upstream.destroy();
  });
  req.on("error", () => upstream.destroy());
  req.pipe(upstream);
}

/** A request whose connection stops being HTTP: the client's side, and what it already sent after its request. */
interface Takeover {
  readonly req: IncomingMessage;
  readonly client: Duplex;
  readonly head: Buffer;
}

async function tunnel(gate: Gate, { req, client, head }: Takeover): Promise<void> {
  const target = URL.canParse(`http://${req.url}`) ? new URL(`http://${req.url}`) : null;
  const port = Number(/:(\d+)$/.exec(req.url ?? "")?.[1] ?? 443);
  if (target === null || !gate.admits({ host: target.hostname, port })) {
    client.end("HTTP/1.1 403 Only the app under test can be reached\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    return;
  }
  const socket = await gate.connect(port);
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) socket.write(head);
  join(client, socket);
}

/** A WebSocket asked for in absolute form: the request goes on in origin form, then bytes both ways. */
async function upgrade(gate: Gate, { req, client, head }: Takeover): Promise<void> {
  const target = absoluteTarget(req.url ?? "");
  if (target === null || !gate.admits(target)) {
    client.end("HTTP/1.1 403 Only the app under test can be reached\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    return;
  }
  const socket = await gate.connect(target.port);
  const lines = [`${req.method} ${target.path} HTTP/1.1`];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index] ?? "";
    if (!name.toLowerCase().startsWith("proxy-")) lines.push(`${name}: ${req.rawHeaders[index + 1]}`);
  }
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (head.length > 0) socket.write(head);
  join(client, socket);
}

/**
 * Opens a proxy into `place` for the judge's browser. Loopback names lead to the place's own ports with the Host header as the page
 * sent it; a port nobody there listens on ends as a broken connection, as it would without a proxy; any other host gets 403.
 */
export async function openAppProxy(place: Pick<Place, "connect">): Promise<AppProxy> {
  const gate = new Gate(place);
  const server = createServer({ keepAliveTimeout: IDLE_MS, requestTimeout: 0, insecureHTTPParser: true });
  server.on("request", (req, res) => void forward(gate, req, res).catch(() => res.destroy()));
  for (const [event, handle] of [
    ["connect", tunnel],
    ["upgrade", upgrade],
  ] as const) {
    server.on(event, (req: IncomingMessage, client: Duplex, head: Buffer) => {
      gate.keep(client).on("error", () => client.destroy());
      handle(gate, { req, client, head }).catch(() => client.destroy());
    });
  }
  server.on("clientError", (_, client) => client.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return {
    server: `http://127.0.0.1:${port}`,
    refusedCount: () => gate.refusedCount,
    refused: () => [...gate.refused],
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      for (const socket of gate.sockets) socket.destroy();
      await closed;
    },
  };
}
