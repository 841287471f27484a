import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { EgressProxy } from "../../src/runner/egress-proxy.ts";

/** A proxy that knows app.test as this machine, a server behind it, and how often names were looked up. */
async function setUp(allowedPort?: number) {
  const seen: string[] = [];
  const server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.host}`);
    response.end("x".repeat(100_000));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const port = (server.address() as AddressInfo).port;
  const lookups: string[] = [];
  const proxy = new EgressProxy({ allow: [`App.test:${allowedPort ?? port}`] }, async (host) => {
    lookups.push(host);
    return "127.0.0.1";
  });
  await once(proxy.server.listen(0, "127.0.0.1"), "listening");
  return {
    proxy,
    port,
    lookups,
    seen,
    proxyPort: (proxy.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function tunnel(proxyPort: number, target: string): Promise<{ head: string; socket: net.Socket }> {
  const socket = net.connect({ port: proxyPort, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  return { head: bytes.toString().split("\r\n")[0] ?? "", socket };
}

describe("the way out", () => {
  test("lets through what is on the list, whole and half-closed, and says how much it was", async () => {
    await using out = await setUp();
    const { head, socket } = await tunnel(out.proxyPort, `APP.test:${out.port}`);
    expect(head).toBe("HTTP/1.1 200 Connection Established");
    socket.end("GET /page HTTP/1.0\r\n\r\n");
    expect((await text(socket)).split("\r\n\r\n")[1]).toHaveLength(100_000);
    await expect.poll(() => out.proxy.log()[0]?.bytes).toBeGreaterThan(100_000);
    expect(out.proxy.log()).toMatchObject([{ target: `app.test:${out.port}`, allowed: true }]);
  });

  test("passes on plain http by absolute address", async () => {
    await using out = await setUp();
    const path = `http://app.test:${out.port}/page?x=1`;
    const request = http.get({ port: out.proxyPort, path, headers: { host: `app.test:${out.port}` } });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect((await text(response)).length).toBe(100_000);
    expect(out.seen).toEqual([`GET /page?x=1 app.test:${out.port}`]);
  });

  test.each([
    "other.test:443",
    "127.0.0.1:PORT",
    "[::1]:PORT",
    "2130706433:PORT",
    "0x7f.1:PORT",
    "app.test:1",
    "app.test",
  ])("refuses %s in words that programs show, and keeps a record", async (shown) => {
    await using out = await setUp();
    const target = shown.replace("PORT", String(out.port));
    const { head, socket } = await tunnel(out.proxyPort, target);
    socket.destroy();
    expect(head).toBe("HTTP/1.1 403 Not on the evoweb allow-list");
    expect(out.proxy.log()).toMatchObject([{ allowed: false, bytes: 0 }]);
    expect(out.lookups).toEqual([]);
    const request = http.get({ port: out.proxyPort, path: `http://${target}/` });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect([response.statusCode, response.statusMessage]).toEqual([403, "Not on the evoweb allow-list"]);
  });

  test("looks a name up once for many connections", async () => {
    await using out = await setUp();
    const tunnels = await Promise.all(Array.from({ length: 50 }, () => tunnel(out.proxyPort, `app.test:${out.port}`)));
    expect(new Set(tunnels.map(({ head }) => head))).toEqual(new Set(["HTTP/1.1 200 Connection Established"]));
    expect(out.lookups).toEqual(["app.test"]);
    for (const { socket } of tunnels) socket.destroy();
  });

  test("a changed list holds at once, also for what is open", async () => {
    await using out = await setUp();
    const { socket } = await tunnel(out.proxyPort, `app.test:${out.port}`);
    const closed = once(socket.resume(), "end");
    out.proxy.set({ allow: [] });
    await closed;
    expect((await tunnel(out.proxyPort, `app.test:${out.port}`)).head).toContain("403");
    out.proxy.set({ allow: [`app.test:${out.port}`] });
    const again = await tunnel(out.proxyPort, `app.test:${out.port}`);
    expect(again.head).toContain("200");
    again.socket.destroy();
  });

  test("a host that cannot be reached is said to be so", async () => {
    await using out = await setUp(9);
    expect((await tunnel(out.proxyPort, "app.test:9")).head).toMatch(/502 connect ECONNREFUSED/);
  });
});
