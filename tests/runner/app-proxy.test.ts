import { once } from "node:events";
import { createServer, request, Agent, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect as connectTcp, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAppProxy, type AppProxy } from "../../src/runner/app-proxy.ts";

// The "app": what it does is set by each test. Only its port belongs to the place.
let listener: RequestListener;
let app: Server;
let port: number;
let proxy: AppProxy;

beforeEach(async () => {
  app = createServer((req, res) => listener(req, res)).listen(0, "127.0.0.1");
  await once(app, "listening");
  ({ port } = app.address() as AddressInfo);
  proxy = await openAppProxy({
    connect: async (wanted) => {
      if (wanted !== port) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      const socket = connectTcp({ port, host: "127.0.0.1", allowHalfOpen: true });
      await once(socket, "connect");
      return socket;
    },
  });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  app.close();
  app.closeAllConnections();
});

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

async function ask(url: string, { method = "GET", headers = {}, body, agent }: Asked = {}): Promise<IncomingMessage> {
  const { host } = new URL(url);
  const asking = request(proxy.server, { path: url, method, headers: { host, ...headers }, agent });
  asking.end(body);
  const [incoming] = (await once(asking, "response")) as [IncomingMessage];
  return incoming;
}

async function proxySocket(): Promise<Socket> {
  const socket = connectTcp({ port: Number(new URL(proxy.server).port), host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}

test.each(["localhost", "app.localhost", "127.0.0.1"])(
  "%s leads into the place, Host and path as the page sent them",
  async (name) => {
    listener = (req, res) => res.end(`${req.method} ${req.url} ${req.headers.host}`);
    const incoming = await ask(`http://${name}:${port}/a/../b?c=%7B|d`);
    expect(await text(incoming)).toBe(`GET /a/../b?c=%7B|d ${name}:${port}`);
  },
);

test("bodies go both ways unchanged, with and without a length; headers keep their order and repeats", async () => {
  const bytes = Buffer.alloc(3_000_000, "0123456789");
  listener = (req, res) => {
    res.writeHead(201, "Made", [
      "X-One",
      "1",
      "Set-Cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
      "X-Seen",
      req.headers["x-ask"] ?? "",
    ]);
    req.pipe(res);
  };
  for (const headers of [{ "content-length": String(bytes.length) }, { "transfer-encoding": "chunked" }]) {
    const incoming = await ask(`http://localhost:${port}/`, {
      method: "DELETE",
      headers: { ...headers, "x-ask": "asked", "proxy-authorization": "secret" },
      body: bytes,
    });
    expect(incoming).toMatchObject({ statusCode: 201, statusMessage: "Made" });
    expect(incoming.rawHeaders.slice(0, 8)).toEqual([
      "X-One",
      "1",
      "Set-Cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
      "X-Seen",
      "asked",
    ]);
    expect((await buffer(incoming)).equals(bytes)).toBe(true);
  }
});

test("HEAD, 304 and a redirect pass as they are", async () => {
  listener = (req, res) => {
    if (req.method === "HEAD") res.writeHead(200, { "content-length": 12 }).end();
    else if (req.url === "/old") res.writeHead(302, { location: "/new" }).end();
    else res.writeHead(304, { etag: "x" }).end();
  };
  const head = await ask(`http://localhost:${port}/`, { method: "HEAD" });
  expect(head.headers["content-length"]).toBe("12");
  expect(await text(head)).toBe("");
  expect((await ask(`http://localhost:${port}/`)).statusCode).toBe(304);
  expect((await ask(`http://localhost:${port}/old`)).headers.location).toBe("/new");
});

test("one connection of the browser serves many requests", async () => {
  listener = (_, res) => res.end("ok");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<Socket>();
  for (let round = 0; round < 5; round += 1) {
    const incoming = await ask(`http://localhost:${port}/`, { agent });
    sockets.add(incoming.socket);
    expect(await text(incoming)).toBe("ok");
  }
  expect(sockets.size).toBe(1);
  agent.destroy();
});

test("a stream arrives piece by piece, its head at once", async () => {
  let send: (chunk: string) => void = () => undefined;
  listener = (_, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    send = (chunk) => res.write(chunk);
  };
  const incoming = await ask(`http://localhost:${port}/events`);
  for (const piece of ["data: 1\n\n", "data: 2\n\n"]) {
    const arrived = once(incoming, "data");
    send(piece);
    expect(String((await arrived)[0])).toBe(piece);
  }
  incoming.destroy();
});

test("who leaves in the middle ends the app's answer, too; an answer cut by the app is cut for the page", async () => {
  let closed = Promise.resolve<unknown>(undefined);
  listener = (req, res) => {
    closed = once(res, "close");
    res.write("begin");
    if (req.url === "/cut") setImmediate(() => res.destroy());
  };
  const left = await ask(`http://localhost:${port}/`);
  left.destroy();
  await closed;
  const cut = await ask(`http://localhost:${port}/cut`);
  await expect(text(cut)).rejects.toThrow("aborted");
});

test("other hosts get 403, are counted and kept within bounds", async () => {
  for (const url of [
    "http://example.test/",
    "http://10.0.0.1:80/",
    "http://localhost.example.test/",
    "http://127.0.0.2/",
  ]) {
    expect((await ask(url)).statusCode).toBe(403);
  }
  const socket = await proxySocket();
  socket.write("CONNECT example.test:443 HTTP/1.1\r\nhost: example.test\r\n\r\n");
  expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /);
  expect(proxy.refusedCount()).toBe(5);
  expect(proxy.refused()).toEqual([
    "example.test:80",
    "10.0.0.1:80",
    "localhost.example.test:80",
    "127.0.0.2:80",
    "example.test:443",
  ]);
  for (let index = 0; index < 120; index += 1) (await ask(`http://h${index}.test/`)).resume();
  expect(proxy.refused()).toHaveLength(100);
  expect((await ask(`http://localhost:${port}`.replace("http:", "https:"))).statusCode).toBe(400);
});

test("a port of the host that is not the place's own ends as a broken connection", async () => {
  const own = Number(new URL(proxy.server).port);
  await expect(ask(`http://localhost:${own}/`)).rejects.toMatchObject({ code: "ECONNRESET" });
  const socket = await proxySocket();
  socket.write(`CONNECT localhost:${own} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  expect(await text(socket)).toBe("");
});

test("a tunnel carries bytes both ways and may be closed on one side first", async () => {
  await new Promise<void>((resolve) => app.close(() => resolve()));
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    // Answers only once the other side has finished.
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
    socket.once("end", () => socket.end(`got ${bytes}`));
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const socket = await proxySocket();
  socket.write(`CONNECT localhost:${port} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\nearly`);
  socket.end("x".repeat(1_000_000));
  expect(await text(socket)).toBe("HTTP/1.1 200 Connection established\r\n\r\ngot 1000005");
  server.close();
});

test.each(["tunnelled", "in absolute form"])("a WebSocket works %s", async (how) => {
  app.on("upgrade", (req, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: ${req.headers.upgrade}\r\nconnection: Upgrade\r\n\r\n`);
    socket.pipe(socket);
  });
  const socket = await proxySocket();
  const lines = `Host: localhost:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`;
  if (how === "tunnelled") {
    socket.write(`CONNECT localhost:${port} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
    await once(socket, "data");
    socket.write(`GET /ws HTTP/1.1\r\n${lines}`);
  } else socket.write(`GET ws://localhost:${port}/ws HTTP/1.1\r\n${lines}`);
  expect(String((await once(socket, "data"))[0])).toContain("101 Switching Protocols\r\nupgrade: websocket");
  socket.write("ping");
  expect(String((await once(socket, "data"))[0])).toBe("ping");
  socket.destroy();
});

test("50 requests at once, and disposal in the middle of answers ends them", async () => {
  listener = (req, res) => {
    if (req.url === "/never") res.write("begin");
    else res.end("ok");
  };
  const answers = Array.from({ length: 50 }, async () => text(await ask(`http://localhost:${port}/`)));
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["ok"]));
  const never = await ask(`http://localhost:${port}/never`);
  await proxy[Symbol.asyncDispose]();
  await expect(text(never)).rejects.toThrow("aborted");
});
