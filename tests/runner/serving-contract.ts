import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/runner/sandbox.ts";
import { down, fixture, get, limits, serve, sourceOf, up } from "./serving.ts";

const SETTLE = { plainMs: 100, errorMs: 500 };

/** How apps are served on any sandbox; `open` makes a fresh one for the whole suite. */
export function describeServing(name: string, open: () => Promise<Sandbox>): void {
  describe(`serving on ${name}`, { timeout: 60_000 }, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
    });
    afterAll(async () => {
      await sandbox[Symbol.asyncDispose]();
    });
    const theSandbox = (): Sandbox => sandbox;
    describeReaching(theSandbox);
    describeReadiness(theSandbox);
    describeCrashes(theSandbox);
    describeNothingServed(theSandbox);
    describeStopping(theSandbox);
  });
}

function describeReaching(sandbox: () => Sandbox): void {
  test("a dev server that checks host names accepts the harness (B37)", async () => {
    await using served = await serve(sandbox(), await fixture("host-check"));
    const app = up(served);
    expect(await get(app.proxy, app.url)).toMatchObject({
      status: 200,
      text: expect.stringContaining("<h1>Notes app</h1>"),
    });
    expect((await get(app.proxy, app.url, { host: "app.test" })).status).toBe(403);
    expect(app).toMatchObject({ httpStatus: 200, restarts: 0, command: "npm run dev" });
    expect(app.startMs).toBeGreaterThan(0);
  });

  test.each([
    ["IPv6 loopback", "node server.mjs ::1 48173"],
    ["IPv4 loopback", "node server.mjs 127.0.0.1 48173"],
    ["all addresses", "node server.mjs 0.0.0.0 48173"],
    ["a random printed port", "node server.mjs 127.0.0.1 0"],
    ["a random silent port", "QUIET=1 node server.mjs 127.0.0.1 0"],
  ])("an app on %s is reached (B38)", async (_, script) => {
    await using served = await serve(sandbox(), await fixture("bind", script));
    const app = up(served);
    expect((await get(app.proxy, app.url)).text).toContain("<h1>Bound to");
  });

  test("among several servers the page wins over a port that only answers", async () => {
    const server = `
      import http from "node:http";
      const say = (status, type, body) => (req, res) => { res.writeHead(status, { "content-type": type }); res.end(body); };
      http.createServer(say(404, "application/json", "{}")).listen(Number(process.env.PORT));
      setTimeout(() => http.createServer(say(200, "text/html", "<h1>The page</h1>")).listen(0), 300);`;
    const files = { "package.json": JSON.stringify({ scripts: { dev: "node server.mjs" } }), "server.mjs": server };
    await using served = await serve(sandbox(), files);
    expect((await get(up(served).proxy, up(served).url)).text).toBe("<h1>The page</h1>");
  });

  test("static files need no script; folders, types, escapes and methods are right", async () => {
    const files = { "index.html": "<h1>Static</h1>", "a/index.html": "inner", "app.js": "let x", "ü b.txt": "odd" };
    await using served = await serve(sandbox(), files);
    const { proxy, url, command } = up(served);
    expect(command).toBe("static files");
    expect((await get(proxy, url)).text).toBe("<h1>Static</h1>");
    expect(await get(proxy, `${url}a`)).toMatchObject({ status: 301 });
    expect(await get(proxy, `${url}a/?q=1`)).toEqual({ status: 200, text: "inner" });
    expect(await get(proxy, `${url}%C3%BC%20b.txt`)).toEqual({ status: 200, text: "odd" });
    for (const path of ["missing", "../../../../etc/passwd", "%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "%00", "%"]) {
      expect((await get(proxy, `${url}${path}`)).status).toBe(404);
    }
  });

  test("nothing of the host's environment reaches an app (B86)", async () => {
    // Put together here, so that no scanner takes it for a real one.
    const secret = ["CANARY", "SECRET"].join("");
    process.env["OPENAI_API_KEY"] = `sk-${secret}`;
    try {
      await using served = await serve(sandbox(), await fixture("secrets"));
      const app = up(served);
      expect((await get(app.proxy, app.url)).text).toContain("<h1>0 secrets seen</h1>");
      expect(app.log().text).toContain("environment: ");
      expect(app.log().text).not.toContain(secret);
    } finally {
      delete process.env["OPENAI_API_KEY"];
    }
  });
}

function describeReadiness(sandbox: () => Sandbox): void {
  test("an app that warms up with 503 and 404 is judged once it is ready (B40 slow)", async () => {
    const files = await fixture("ready", "node server.mjs slow 0.1");
    await using served = await serve(sandbox(), files, { settle: SETTLE });
    const app = up(served);
    expect((await get(app.proxy, app.url)).text).toBe("<h1>Ready</h1>");
    expect(app.httpStatus).toBe(200);
    expect(app.startMs).toBeGreaterThan(800);
  });

  test("an app with no page at its root counts as started (B40 api)", async () => {
    await using served = await serve(sandbox(), await fixture("ready", "node server.mjs api"), { settle: SETTLE });
    expect(up(served).httpStatus).toBe(404);
    expect((await get(up(served).proxy, `${up(served).url}app/`)).text).toBe("<h1>The page</h1>");
  });

  // A limit that the start itself keeps well within, however busy the machine is.
  let limitMs = 0;
  beforeAll(async () => {
    await using served = await serve(sandbox(), await fixture("host-check"));
    limitMs = Math.max(2000, up(served).startMs * 4);
  }, 120_000);

  test("an app that answers 500 for ever started, but fails (B40 down)", async () => {
    const files = await fixture("ready", "node server.mjs down");
    const { class: kind, evidence } = down(await serve(sandbox(), files, { startTimeoutMs: limitMs }));
    expect(kind).toBe("http_error");
    expect(evidence).toMatchObject({ limitMs, logTail: expect.stringContaining("Server running at") });
    expect(Object.values(evidence["probes"] as object)).toMatchObject([{ kind: "answer", status: 500 }]);
  });

  test("an app that takes connections and stays silent is given up at the limit, not later (B40 hang)", async () => {
    const files = await fixture("ready", "node server.mjs hang");
    const { class: kind, evidence } = down(
      await serve(sandbox(), files, { startTimeoutMs: limitMs, probeTimeoutMs: 700 }),
    );
    expect(kind).toBe("no_answer");
    expect(evidence["elapsedMs"]).toBeGreaterThanOrEqual(limitMs);
    expect(evidence["elapsedMs"]).toBeLessThan(limitMs * 1.5);
    expect(evidence["listening"]).toHaveLength(1);
  });

  test("a slow first answer is waited for, though single probes have a limit", async () => {
    const server = `require("http").createServer((q, s) => setTimeout(() => s.end("<h1>late</h1>"), 900)).listen(process.env.PORT)`;
    const files = { "package.json": JSON.stringify({ scripts: { dev: "node s.js" } }), "s.js": server };
    await using served = await serve(sandbox(), files, { probeTimeoutMs: 300 });
    expect(up(served).httpStatus).toBe(200);
  });

  test("200 MB of log (here 20) harm nobody: it is drained, bounded and harmless (B47)", async () => {
    await using served = await serve(sandbox(), await fixture("noisy", "node server.mjs 20"));
    const app = up(served);
    await expect.poll(() => app.log().totalBytes, { timeout: 20_000 }).toBeGreaterThan(20_000_000);
    const { text, droppedBytes } = app.log();
    expect((await get(app.proxy, app.url)).text).toBe("<h1>Noisy</h1>");
    expect(text.length).toBeLessThan(300_000);
    expect(text).toContain(`${droppedBytes} bytes left out`);
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(await app.isAlive()).toBe(true);
  });
}

function describeCrashes(sandbox: () => Sandbox): void {
  test("an app that dies of its first request has crashed (B41 once)", async () => {
    const { class: kind, evidence } = down(await serve(sandbox(), await fixture("fragile", "node server.mjs once")));
    expect(kind).toBe("start_crash");
    expect(evidence).toMatchObject({ exitCode: 1, logTail: expect.stringContaining("cannot read the second request") });
  });

  test("a restart loop is no running app, and its restarts are counted (B41 watch)", async () => {
    const { class: kind, evidence } = down(
      await serve(sandbox(), await fixture("fragile", "node keeper.mjs"), { startTimeoutMs: 45_000 }),
    );
    expect(kind).toBe("start_crash");
    expect(evidence).toMatchObject({ restarts: 3, reason: expect.stringContaining("restart loop") });
  });

  test("a crash while judging is noticed; a restart brings the app back on the same data (B41 late)", async () => {
    await using served = await serve(sandbox(), await fixture("fragile", "node server.mjs late 1500"));
    const app = up(served);
    expect(await app.isAlive()).toBe(true);
    expect(await app.ended).toMatchObject({ exitCode: 1, how: "exited" });
    expect(await app.isAlive()).toBe(false);
    expect(app.log().text).toContain("fatal: timer went off");
    expect(app.lostConnections()).toBe(0);
    await expect(get(app.proxy, app.url)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(app.lostConnections()).toBe(1);
    expect(await app.restart()).toBeNull();
    expect(app.lostConnections()).toBe(0);
    expect((await get(app.proxy, app.url)).text).toContain("Fragile app");
  });
}

function describeNothingServed(sandbox: () => Sandbox): void {
  test("a start script that only builds did not start (B46)", async () => {
    const { class: kind, evidence } = down(await serve(sandbox(), await fixture("nothing/build-only")));
    expect(kind).toBe("no_listen");
    expect(evidence).toMatchObject({
      exitCode: 0,
      reason: expect.stringContaining("Did not start"),
      logTail: expect.stringContaining("built in 42 ms"),
    });
  });

  test("no script and an empty tree did not start either (B46)", async () => {
    for (const name of ["nothing/no-script", "nothing/empty"]) {
      const { class: kind, evidence } = down(await serve(sandbox(), await fixture(name)));
      expect(kind).toBe("artifact_invalid");
      expect(evidence["reason"]).toMatch(/^Did not start: /);
    }
  });

  test("with start and build the build runs once before, and its failure has a class of its own", async () => {
    const scripts = { build: "echo built > made.html && echo building", start: "node s.js" };
    const server = `require("http").createServer((q, s) => s.end(require("fs").readFileSync("made.html"))).listen(process.env.PORT)`;
    const files = { "package.json": JSON.stringify({ scripts }), "s.js": server };
    await using served = await serve(sandbox(), files);
    expect(served.log).toContain("building");
    expect((await get(up(served).proxy, up(served).url)).text).toBe("built\n");
    const failing = { "package.json": JSON.stringify({ scripts: { ...scripts, build: "echo broken >&2; exit 3" } }) };
    expect(down(await serve(sandbox(), failing))).toMatchObject({
      class: "build_failed",
      evidence: { exitCode: 3, logTail: expect.stringContaining("broken") },
    });
  });

  test("a failed install is told apart, with its output", async () => {
    const json = { scripts: { dev: "node s.js", postinstall: "echo no way >&2; exit 5" } };
    expect(down(await serve(sandbox(), { "package.json": JSON.stringify(json) }))).toMatchObject({
      class: "install_failed",
      evidence: { exitCode: 5, command: "npm install", logTail: expect.stringContaining("no way") },
    });
  });
}

function describeStopping(sandbox: () => Sandbox): void {
  test("ten starts and stops in a row leave no process and no port behind (B43)", { timeout: 240_000 }, async () => {
    await using place = await sandbox().open({ label: "ten", limits });
    const files = await fixture("nested");
    await place.writeTree(await sourceOf(files).toTar());
    const port = await place.suggestPort();
    for (let round = 0; round < 10; round += 1) {
      const started = await place.start({ argv: ["npm", "run", "start"], env: { PORT: String(port) } });
      await expect.poll(async () => (await place.listeners()).map((l) => l.port), { timeout: 20_000 }).toEqual([port]);
      expect((await place.endProcesses(100)).length).toBeGreaterThanOrEqual(4);
      await started.ended;
      expect(await place.listeners()).toEqual([]);
      expect(await place.endProcesses(0)).toEqual([]);
    }
  });

  test("what an agent leaves in the background is found and ended (B29)", async () => {
    await using place = await sandbox().open({ label: "agent", limits });
    const script = (await fixture("background"))["start-in-background.sh"] ?? "";
    const port = await place.suggestPort();
    const run = await place.exec({
      argv: ["sh"],
      stdin: script,
      env: { PORT: String(port) },
      timeoutMs: 10_000,
    });
    expect(run).toMatchObject({ exitCode: 0, how: "exited", stdout: { text: "started\n" } });
    expect(run.durationMs).toBeLessThan(5000);
    expect((await place.listeners()).map((listener) => listener.port)).toEqual([port]);
    expect(await place.endProcesses(500)).toHaveLength(1);
    expect(await place.listeners()).toEqual([]);
  });

  test("after its limit a command does no more work (B31)", async () => {
    await using place = await sandbox().open({ label: "burn", limits });
    const script = (await fixture("burn"))["burn.sh"] ?? "";
    const run = await place.exec({ argv: ["sh", "-c", script], timeoutMs: 700 });
    expect(run.how).toBe("timed_out");
    const size = async (): Promise<string> =>
      (await place.exec({ argv: ["sh", "-c", "stat -c %s burn.log; sleep 0.3; stat -c %s burn.log"], timeoutMs: 5000 }))
        .stdout.text;
    const [first, second] = (await size()).split("\n");
    expect(Number(first)).toBeGreaterThan(0);
    expect(second).toBe(first);
    expect(await place.endProcesses(0)).toEqual([]);
  });
}
