import { lookup } from "node:dns/promises";
import http from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import type { Egress, EgressRecord } from "./sandbox.ts";

// This phrase is what npm, git and Python show to their user.
const REFUSAL = "Not on the evoweb allow-list";
const DNS_CACHE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;

interface Entry {
  readonly time: string;
  readonly target: string;
  readonly allowed: boolean;
  readonly startedAt: number;
  bytes: number;
  durationMs: number | undefined;
  /** Cuts a connection that is no longer allowed. */
  cut: () => void;
}

/** Finds the address of a host name. */
export type Resolve = (host: string) => Promise<string>;

const systemResolve: Resolve = async (host) => (await lookup(host, { order: "ipv4first" })).address;

/** "host:port" in lower case without a final dot, or undefined for an address in digits, which no list can hold. */
function targetOf(host: string, port: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, "");
  const bare = name.replace(/^\[(.*)\]$/, "$1");
  // "0x7f.1" and "2130706433" are addresses too, in the eyes of a resolver.
  const isAddress = net.isIP(bare) !== 0 || /^(0x[0-9a-f]*|\d+)$/.test(bare.split(".").at(-1) ?? "");
  return isAddress || name === "" ? undefined : `${name}:${port}`;
}

function join(one: Duplex, other: Duplex, count: (bytes: number) => void): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("data", (bytes: Buffer) => count(bytes.length));
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      // One that has only ended its half may still be sent the rest of the reply.
      if (!from.readableEnded) to.destroy();
    });
  }
}

/**
 * A forward proxy (CONNECT, and absolute addresses for plain http) that lets through what is on a list of "host:port"
 * and keeps a record of everything else too.
 */
export class EgressProxy {
  /** To be made to listen by the owner, and closed by `close`. */
  readonly server: http.Server;
  #allow: ReadonlySet<string>;
  readonly #log: Entry[] = [];
  /** Ends of tunnels; the server no longer counts them as its own. */
  readonly #clients = new Set<net.Socket>();
  readonly #resolve: Resolve;
  readonly #addresses = new Map<string, { address: Promise<string>; until: number }>();

  /** Starts with this list; `resolve` is the system's by default. */
  constructor(egress: Egress, resolve: Resolve = systemResolve) {
    this.#resolve = resolve;
    this.#allow = new Set(egress.allow.map((target) => target.toLowerCase()));
    this.server = http.createServer((request, response) => void this.#forward(request, response));
    this.server.on("connect", (request, client, head) => void this.#tunnel(request, client as net.Socket, head));
    this.server.on("clientError", (_, socket) => socket.destroy());
  }

  /** Replaces the list; open connections that it no longer allows are cut. */
  set(egress: Egress): void {
    this.#allow = new Set(egress.allow.map((target) => target.toLowerCase()));
    for (const entry of this.#log) if (entry.durationMs === undefined && !this.#allow.has(entry.target)) entry.cut();
  }

  /** All connections so far, in the order of their beginning. */
  log(): readonly EgressRecord[] {
    return this.#log.map(({ time, target, allowed, bytes, durationMs, startedAt }) => ({
      time,
      target,
      allowed,
      bytes,
      durationMs: durationMs ?? performance.now() - startedAt,
    }));
  }

  /** Cuts everything and stops listening. */
  async close(): Promise<void> {
    this.set({ allow: [] });
    for (const client of this.#clients) client.destroy();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** An install opens hundreds of connections at once; without a cache as many look-ups run into the resolver's time-outs. */
  #addressOf(host: string): Promise<string> {
    const known = this.#addresses.get(host);
    if (known !== undefined && known.until > Date.now()) return known.address;
    const address = this.#resolve(host);
    this.#addresses.set(host, { address, until: Date.now() + DNS_CACHE_MS });
    address.catch(() => this.#addresses.delete(host));
    return address;
  }

  #begin(shown: string, target: string | undefined): Entry {
    const entry: Entry = {
      time: new Date().toISOString(),
      target: target ?? shown,
      allowed: target !== undefined && this.#allow.has(target),
      startedAt: performance.now(),
      bytes: 0,
      durationMs: undefined,
      cut: () => {},
    };
    if (!entry.allowed) entry.durationMs = 0;
    this.#log.push(entry);
    return entry;
  }

  async #tunnel(request: http.IncomingMessage, client: net.Socket, head: Buffer): Promise<void> {
    this.#clients.add(client);
    client.on("error", () => {}).on("close", () => this.#clients.delete(client));
    const { host, port } = splitAuthority(request.url ?? "");
    const target = targetOf(host, port);
    const entry = this.#begin(request.url ?? "", target);
    if (!entry.allowed) {
      answerAndClose(client, `403 ${REFUSAL}`);
      return;
    }
    const finish = (): void => void (entry.durationMs ??= performance.now() - entry.startedAt);
    try {
      const upstream = await dial(await this.#addressOf(host.toLowerCase()), Number(port));
      entry.cut = (): void => {
        upstream.destroy();
        client.destroy();
      };
      upstream.on("close", finish);
      if (client.destroyed || !this.#allow.has(entry.target)) return entry.cut();
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      join(client, upstream, (bytes) => (entry.bytes += bytes));
    } catch (error) {
      finish();
      answerAndClose(client, `502 ${reasonOf(error)}`);
    }
  }

  async #forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const shown = request.url ?? "";
    const url = URL.canParse(shown) && shown.startsWith("http://") ? new URL(shown) : undefined;
    const port = url === undefined || url.port === "" ? "80" : url.port;
    const entry = this.#begin(shown, url === undefined ? undefined : targetOf(url.hostname, port));
    if (!entry.allowed || url === undefined) {
      response.writeHead(403, REFUSAL, { "content-length": 0, connection: "close" }).end();
      return;
    }
    try {
      const address = await this.#addressOf(url.hostname);
      this.#passOn(request, response, {
        entry,
        options: { host: address, port: Number(port), path: url.pathname + url.search },
      });
    } catch (error) {
      entry.durationMs = performance.now() - entry.startedAt;
      response.writeHead(502, reasonOf(error), { "content-length": 0 }).end();
    }
  }

  #passOn(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    to: { entry: Entry; options: http.RequestOptions },
  ): void {
    const { entry } = to;
    const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
    const upstream = http.request({ ...to.options, method: request.method ?? "GET", headers, agent: false });
    entry.cut = (): void => void upstream.destroy();
    request.on("data", (bytes: Buffer) => (entry.bytes += bytes.length)).pipe(upstream);
    upstream.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headers);
      answer.on("data", (bytes: Buffer) => (entry.bytes += bytes.length)).pipe(response);
      answer.on("error", () => response.destroy());
    });
    upstream.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, reasonOf(error), { "content-length": 0 }).end();
    });
    upstream.on("close", () => (entry.durationMs ??= performance.now() - entry.startedAt));
    response.on("close", () => {
      if (!response.writableFinished) upstream.destroy();
    });
  }
}

function answerAndClose(client: net.Socket, status: string): void {
  client.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  // Not end(): the other side may keep its half open for ever.
  client.destroySoon();
}

function splitAuthority(authority: string): { host: string; port: string } {
  const at = authority.lastIndexOf(":");
  return { host: authority.slice(0, at), port: authority.slice(at + 1) };
}

function dial(host: string, port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, allowHalfOpen: true });
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error("the host does not answer")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket
        .setTimeout(0)
        .off("error", reject)
        .on("error", () => {});
      resolve(socket);
    });
  });
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/[^\x20-\x7e]/g, " ").slice(0, 200);
