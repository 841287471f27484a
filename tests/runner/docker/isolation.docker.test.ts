import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import Docker from "dockerode";
import { pack } from "tar-stream";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER_LABEL } from "../../../src/runner/docker/labels.ts";
import type { CommandResult, Place, PlaceOptions, Sandbox } from "../../../src/runner/sandbox.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

const CANARY = "canary-7f3a91-of-the-host";

describeWithDocker("isolation of a container", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    process.env["EVOWEB_TEST_SECRET"] = CANARY;
    sandbox = await openTestSandbox();
  });
  afterAll(async () => {
    delete process.env["EVOWEB_TEST_SECRET"];
    await sandbox[Symbol.asyncDispose]();
  });
  const open = (more: Partial<PlaceOptions> = {}): Promise<Place> =>
    sandbox.open({ label: "isolation", limits, ...more });
  const run = (place: Place, script: string): Promise<CommandResult> =>
    place.exec({ argv: ["/bin/bash", "-c", script], timeoutMs: 30_000 });

  test("no capability, no new privileges, limits in force, only a loopback, nothing of the relay in sight", async () => {
    await using place = await open();
    const { stdout } = await run(
      place,
      `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '\\t' ' '
       echo memory $(cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null)
       echo swap $(cat /sys/fs/cgroup/memory.swap.max /sys/fs/cgroup/memory/memory.memsw.limit_in_bytes 2>/dev/null)
       echo pids $(cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null)
       echo cards $(tail -n +3 /proc/net/dev | cut -d: -f1)
       echo evoweb $(ls -d /evoweb /layer/* 2>/dev/null) $(grep -c evoweb /proc/mounts)
       unshare -Ur true 2>&1 || echo "no user namespace"`,
    );
    const lines = stdout.text.split("\n");
    for (const set of ["Inh", "Prm", "Eff", "Bnd", "Amb"]) expect(lines).toContain(`Cap${set}: 0000000000000000`);
    expect(lines).toEqual(
      expect.arrayContaining(["NoNewPrivs: 1", "Seccomp: 2", "pids 200", "cards lo", "no user namespace"]),
    );
    expect(lines).toContain(`memory ${limits.memoryBytes}`);
    expect(stdout.text).toMatch(/^swap (0|268435456)$/m);
    expect(stdout.text).toMatch(/^evoweb \/layer\/u \/layer\/w 0$/m);
  });

  test("the main process and the relay are out of the agent's reach", async () => {
    await using place = await open();
    await run(place, "kill -9 -1");
    await run(place, "for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done");
    await run(place, "for port in 898 899; do (exec 3<>/dev/tcp/127.0.0.1/$port; echo evil >&3); done");
    expect((await run(place, "echo alive; ps -o user= -e | sort | uniq")).stdout.text).toMatch(
      /^alive\n(65533\n)app\n$/,
    );
    expect(await place.listeners()).toEqual([]);
  });

  test("no secret of the host is inside or in what the engine shows", async () => {
    await using place = await open();
    const search = `grep -rqs ${CANARY.slice(0, 8)}"${CANARY.slice(8)}" /proc/self/environ /proc/1/cmdline /home /workspace /tmp /run /etc && echo found`;
    expect((await run(place, search)).stdout.text).toBe("");
    const docker = new Docker();
    const containers = await docker.listContainers({ filters: { label: [OWNER_LABEL] } });
    for (const { Id } of containers) {
      // Other tests' containers may end meanwhile.
      const shown = await docker
        .getContainer(Id)
        .inspect()
        .catch(() => ({}));
      expect(JSON.stringify(shown)).not.toContain(CANARY);
    }
  });

  test("the host, its engine and other places cannot be reached", async () => {
    const server = http.createServer((_, response) => response.end("host"));
    await once(server.listen(0, "0.0.0.0"), "listening");
    const { port } = server.address() as AddressInfo;
    await using place = await open();
    const { stdout } = await run(
      place,
      `for host in 127.0.0.1 172.17.0.1 169.254.169.254 $(hostname); do
         curl -s --noproxy '*' -m 3 http://$host:${port}/ && echo reached; done
       ls /var/run/docker.sock 2>/dev/null; getent hosts example.test; echo done`,
    );
    expect(stdout.text).toBe("done\n");
    server.close();
  });

  test("the way out: refusals in words a program shows, all of it on record, changed while the place lives", async () => {
    const server = http.createServer((_, response) => response.end("from outside"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    await using place = await open({ egress: { allow: [`localhost:${port}`] } });
    const fetchOut = `curl -s --noproxy '' --proxytunnel -m 10 http://localhost:${port}/`;
    const refused = `curl -sv --noproxy '' -m 10 https://other.test/ 2>&1 | grep -o '403.*list' | head -1`;
    const inside = `node -e 'const s = require("http").createServer((q, r) => r.end("own")).listen(3000, async () => { console.log(await (await fetch("http://localhost:3000")).text()); s.close() })'`;
    const { stdout } = await run(place, `${fetchOut}; echo; ${refused}; curl -s http://127.0.0.1:1; ${inside}`);
    expect(stdout.text).toBe("from outside\n403 Not on the evoweb allow-list\nown\n");
    await place.setEgress({ allow: [] });
    expect((await run(place, `${fetchOut} || echo refused`)).stdout.text).toBe("refused\n");
    expect(place.egressLog()).toMatchObject([
      { target: `localhost:${port}`, allowed: true },
      { target: "other.test:443", allowed: false },
      { target: `localhost:${port}`, allowed: false },
    ]);
    server.closeAllConnections();
    server.close();
  });

  test("npm says at once why it gets nothing", async () => {
    await using place = await open();
    const { stderr, durationMs } = await run(
      place,
      "npm install left-pad --registry http://registry.test/ --fetch-retries 0",
    );
    expect(stderr.text).toContain("403 Not on the evoweb allow-list");
    expect(durationMs).toBeLessThan(15_000);
    expect(place.egressLog()).toMatchObject([{ target: "registry.test:80", allowed: false }]);
  });

  test("50 MB each way and 50 connections at once come through whole", async () => {
    await using place = await open();
    const echo = `require("net").createServer({ allowHalfOpen: true }, (s) => s.pipe(s)).listen(4000, "localhost")`;
    await place.start({ argv: ["node", "-e", echo] });
    await expect.poll(() => place.listeners(), { timeout: 10_000 }).toEqual([{ port: 4000, address: "::1" }]);
    const send = async (bytes: Buffer): Promise<boolean> => {
      const connection = await place.connect(4000);
      const back = buffer(connection);
      connection.end(bytes);
      return (await back).equals(bytes);
    };
    expect(await send(Buffer.alloc(50 * 1024 * 1024, "0123456789abc"))).toBe(true);
    const many = await Promise.all(Array.from({ length: 50 }, (_, at) => send(Buffer.alloc(100_000, at))));
    expect(many).toEqual(Array.from({ length: 50 }, () => true));
  });

  test("a certificate authority of the user's is trusted inside, and only the file gets in", async () => {
    const folder = await mkdtemp(join(tmpdir(), "evoweb-test-"));
    const caFile = join(folder, "ca.pem");
    await writeFile(caFile, "-----BEGIN CERTIFICATE-----\nmade for this test\n-----END CERTIFICATE-----\n");
    await using other = await openTestSandbox({ caFile });
    await using place = await other.open({ label: "ca", limits });
    const { stdout } = await run(
      place,
      'for v in NODE_EXTRA_CA_CERTS SSL_CERT_FILE PIP_CERT npm_config_cafile; do tail -3 "${!v}" | head -2; done; grep -c BEGIN "$SSL_CERT_FILE"',
    );
    expect(stdout.text.match(/made for this test/g)).toHaveLength(4);
    expect(Number(stdout.text.trim().split("\n").at(-1))).toBeGreaterThan(50);
    await rm(folder, { recursive: true });
    await expect(openTestSandbox({ caFile })).rejects.toMatchObject({ code: "usage" });
  });

  test("a socket path too long for the system is refused, not cut", async () => {
    const folder = join(await mkdtemp(join(tmpdir(), "evoweb-test-")), "x".repeat(80));
    await expect(openTestSandbox({ socketFolder: folder })).rejects.toMatchObject({
      code: "sandbox",
      message: expect.stringContaining("107"),
    });
  });

  test("an image without the programs we need is a fault of the image (B16)", async () => {
    const docker = new Docker();
    const empty = pack();
    empty.entry({ name: "etc/empty" }, "");
    empty.finalize();
    const repo = `evoweb-test-${process.pid}`;
    const stream = await docker.importImage(Readable.from(empty), { repo, tag: "empty" });
    await new Promise<void>((resolve) => docker.modem.followProgress(stream, () => resolve()));
    try {
      await using bad = await openTestSandbox({ image: `${repo}:empty` });
      const fault = { code: "image", message: expect.stringContaining("cannot run node") };
      await expect(bad.open({ label: "bad", limits })).rejects.toMatchObject(fault);
      await using none = await openTestSandbox({ image: `${repo}:never-built` });
      const missing = { code: "image", message: expect.stringContaining("evoweb images build") };
      await expect(none.open({ label: "none", limits })).rejects.toMatchObject(missing);
    } finally {
      await docker.getImage(`${repo}:empty`).remove();
    }
  });
});
