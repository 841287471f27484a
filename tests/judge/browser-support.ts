import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request as httpRequest, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium, type Chromium } from "../../src/judge/chromium.ts";
import type { SessionTarget } from "../../src/judge/browser-session.ts";

/** The browser for tests; undefined (a visible skip) where there is none, which in CI is a failure. */
export async function chromiumForTests(): Promise<Chromium | undefined> {
  try {
    return await findChromium({ explicitPath: process.env["EVOWEB_CHROMIUM"], playwrightAllowed: true });
  } catch (error) {
    if (process.env["CI"] !== undefined) throw error;
    return undefined;
  }
}

export interface Running extends AsyncDisposable {
  readonly port: number;
}

/** Listens on a free port of 127.0.0.1; disposing also cuts connections that are still open. */
async function listen(server: Server): Promise<Running> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export const serve = async (listener: RequestListener): Promise<Running> => listen(createServer(listener));

const pagesFolder = fileURLToPath(new URL("../fixtures/pages/", import.meta.url));

/** Serves the HTML files of `tests/fixtures/pages/NAME`. */
export const servePages = async (name: string): Promise<Running> =>
  serve((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    readFile(join(pagesFolder, name, path === "/" ? "index.html" : path)).then(
      (body) => response.setHeader("content-type", "text/html").end(body),
      () => response.writeHead(404).end("not found"),
    );
  });

/** Runs `server.mjs` of `tests/fixtures/pages/NAME` as a process of its own on a free port. */
export async function startFixture(name: string): Promise<Running> {
  const port = await (async () => {
    await using free = await serve(() => undefined);
    return free.port;
  })();
  const child = spawn(process.execPath, [join(pagesFolder, name, "server.mjs")], {
    env: { PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A small proxy that leads to these ports of the loopback and nowhere else; `asked` is what the browser wanted. */
async function openTestProxy(ports: readonly number[]): Promise<Running & { readonly asked: string[] }> {
  const asked: string[] = [];
  const isAllowed = (url: URL): boolean =>
    ["localhost", "127.0.0.1"].includes(url.hostname) && ports.includes(Number(url.port));
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const url = new URL(request.url ?? "");
    if (!isAllowed(url)) {
      response.writeHead(403).end("outside");
      return;
    }
    const { method, headers } = request;
    const onward = httpRequest(
      { host: "127.0.0.1", port: url.port, path: url.pathname + url.search, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.writeHead(502).end());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  server.on("connect", (request, client: Socket, head: Buffer) => {
    asked.push(request.url ?? "");
    const url = new URL(`http://${request.url}`);
    if (!isAllowed(url)) {
      client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const onward = connect(Number(url.port), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.write(head);
      onward.pipe(client).pipe(onward);
    });
    for (const socket of [client, onward]) socket.on("error", () => [client, onward].map((one) => one.destroy()));
  });
  return Object.assign(await listen(server), { asked });
}

/** A proxy to the app on this port (and the next, where a second server may be), and its address. */
export async function targetOf(
  app: Running,
  name = "localhost",
): Promise<{ readonly target: SessionTarget; readonly asked: readonly string[] } & AsyncDisposable> {
  const proxy = await openTestProxy([app.port, app.port + 1]);
  return {
    target: { url: `http://${name}:${app.port}/`, proxyServer: `http://127.0.0.1:${proxy.port}` },
    asked: proxy.asked,
    [Symbol.asyncDispose]: async () => proxy[Symbol.asyncDispose](),
  };
}

/** A folder that goes when it is disposed. */
export async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "evoweb-test-"));
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) };
}
