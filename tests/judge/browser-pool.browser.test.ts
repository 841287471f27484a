import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowserPool, type BrowserPool } from "../../src/judge/browser-pool.ts";
import { judgeCheck } from "../../src/judge/judge-check.ts";
import type { Judge } from "../../src/judge/judge.ts";
import { chromiumForTests, serve, servePages, targetOf, temporaryFolder, type Running } from "./browser-support.ts";

const chromium = await chromiumForTests();

/** Live processes of a process group, each with its user, seccomp mode and command line. */
function processesOf(group: number): { readonly uid: number; readonly seccomp: string; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (Number(pgrp) !== group || state === "Z") return [];
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        return [
          {
            uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
            seccomp: /^Seccomp:\s+(\d+)/m.exec(status)?.[1] ?? "",
            command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "),
          },
        ];
      } catch {
        return [];
      }
    });
}

/** Folders of the browser with this process group; other tests have browsers of their own meanwhile. */
const foldersOf = (group: number): string[] =>
  readdirSync(tmpdir()).filter((name) => {
    try {
      return (
        name.startsWith("evoweb-browser-") && readFileSync(join(tmpdir(), name, "pid"), "utf8").trim() === `${group}`
      );
    } catch {
      return false;
    }
  });

/** A judge whose observation is given by a test. */
const judgeOf = (look: Judge["observe"]): Judge => ({
  name: "test",
  hash: "",
  timeoutMs: 60_000,
  canJudge: () => true,
  observe: look,
  rule: ({ evidence: { points } }) =>
    Promise.resolve({ verdict: points.every((point) => point.met) ? "YES" : "NO", cause: "judged" }),
});

const seesHeading = judgeOf(async ({ target }, session) => {
  await session.page.goto(target.url);
  const saw = await session.page.getByRole("heading").innerText();
  return { points: [{ point: "a heading", met: saw !== "", saw }], files: [], browserMs: session.browserMs() };
});

const check = { task: "", expectedResult: "", role: "functional" } as const;
const helloPage = async (): Promise<Running> =>
  serve((_request, response) => void response.setHeader("content-type", "text/html").end("<h1>Hello</h1>"));

describe.skipIf(chromium === undefined)("browser pool", () => {
  let pool: BrowserPool;
  beforeAll(async () => {
    if (chromium !== undefined) pool = await openBrowserPool({ chromium });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  async function judgedBy(judge: Judge, app: Running, beforeRetry?: () => void): ReturnType<typeof judgeCheck> {
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const task = {
      rowId: "1",
      request: 1,
      checkIndex: 0,
      sample: "1",
      check,
      target: way.target,
      restart: async () => way.target.url,
      evidenceDir: folder.path,
      timeoutMs: 3000,
      signal: new AbortController().signal,
    };
    const retry = async (): Promise<typeof way.target> => {
      beforeRetry?.();
      return way.target;
    };
    return await judgeCheck(judge, { pool, task, beforeRetry: retry });
  }

  test.skipIf(process.getuid?.() !== 0)("as root, the browser runs as nobody in its own sandbox", async () => {
    await using app = await helloPage();
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    await using session = await pool.openSession(way.target, { evidenceDir: folder.path });
    await session.page.goto(way.target.url);
    const processes = processesOf(pool.processGroup).filter(({ command }) => command.includes("--"));
    const browsers = processes.filter(({ command }) => !command.startsWith("/bin/sh"));
    expect(browsers.length).toBeGreaterThan(2);
    expect(new Set(browsers.map(({ uid }) => uid))).toEqual(new Set([65_534]));
    expect(processes.filter(({ command }) => command.includes("--no-sandbox"))).toEqual([]);
    // Renderers are forked from the sandboxed zygote; the kernel says that their system calls are filtered.
    expect(browsers.filter(({ seccomp }) => seccomp === "2").length).toBeGreaterThan(0);
    expect(pool.info).toMatchObject({
      product: "Chromium",
      version: chromium?.version,
      protection: "Chromium's own sandbox, as the unprivileged user nobody",
    });
  });

  test("each session is fresh and sees the same surroundings", async () => {
    await using app = await helloPage();
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const seen: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      await using session = await pool.openSession(way.target, { evidenceDir: folder.path });
      await session.page.goto(way.target.url);
      seen.push(
        await session.page.evaluate(
          `(() => { const before = localStorage.length; localStorage.setItem("a", "b"); return [before, innerWidth, innerHeight,
            devicePixelRatio, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,
            matchMedia("(prefers-reduced-motion: reduce)").matches, isSecureContext]; })()`,
        ),
      );
    }
    const same = [0, 1280, 720, 1, "en-US", "UTC", true, true];
    expect(seen).toEqual([same, same]);
  });

  test("the page reaches its app and nothing else, neither by name or address nor by WebRTC", async () => {
    await using other = await helloPage();
    const stun = createSocket("udp4");
    let packets = 0;
    stun.on("message", () => (packets += 1));
    await new Promise<void>((resolve) => stun.bind(0, "127.0.0.1", resolve));
    const html = `<h1>Reach</h1><img src="http://example.invalid/pixel.png"><script>
      const connection = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${stun.address().port}" }] });
      connection.createDataChannel("x");
      connection.createOffer().then((offer) => connection.setLocalDescription(offer));
      const tried = (url) => fetch(url, { mode: "no-cors" }).then((r) => r.text(), () => "");
      window.reached = Promise.all([tried("http://127.0.0.1:${other.port}/"), tried("http://[::1]:${other.port}/"),
        tried("https://192.0.2.1/"), tried("/own")]);
    </script>`;
    await using app = await serve((request, response) => {
      response.setHeader("content-type", "text/html").end(request.url === "/own" ? "own" : html);
    });
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    {
      await using session = await pool.openSession(way.target, { evidenceDir: folder.path });
      await session.page.goto(way.target.url);
      expect(await session.page.evaluate("window.reached")).toEqual(["", "", "", "own"]);
      const gathered = `new Promise((done) => { const ask = () => connection.iceGatheringState === "complete" && done(1);
        connection.onicegatheringstatechange = ask; ask(); })`;
      await session.page.evaluate(gathered);
      const blocked = session.notes.filter(({ kind }) => kind === "blocked").map(({ text }) => text);
      expect(blocked.sort()).toEqual(["http://example.invalid/pixel.png", "https://192.0.2.1/"]);
      // What the proxy refuses on the loopback may be a port of the app itself, so its errors are kept.
      const errors = session.notes.filter(({ kind }) => kind === "console_error");
      expect(errors.filter(({ text }) => !text.includes("403"))).toEqual([]);
    }
    stun.close();
    expect(packets).toBe(0);
    expect(way.asked).toContain(`http://127.0.0.1:${other.port}/`);
  });

  test("a browser that dies under a check is replaced, and the check is judged again on restored data", async () => {
    await using app = await helloPage();
    const killed: number[] = [];
    let restored = 0;
    const killer = judgeOf(async (task, session) => {
      if (killed.length === 0) {
        killed.push(pool.processGroup);
        await session.page.goto(task.target.url);
        process.kill(-pool.processGroup, "SIGKILL");
      }
      return seesHeading.observe(task, session);
    });
    const outcome = await judgedBy(killer, app, () => (restored += 1));
    expect(outcome.result).toEqual({ verdict: "YES", cause: "judged" });
    expect(outcome.tries).toBe(2);
    expect(restored).toBe(1);
    expect(pool.processGroup).not.toBe(killed[0]);
  });

  test("a browser that dies every time gives MISSING after three tries", async () => {
    await using app = await helloPage();
    const outcome = await judgedBy(
      judgeOf(async (task, session) => {
        process.kill(-pool.processGroup, "SIGKILL");
        return seesHeading.observe(task, session);
      }),
      app,
    );
    expect(outcome.result).toEqual({ verdict: "MISSING", cause: "infra", class: "browser" });
    expect(outcome.tries).toBe(3);
  });

  test("a judge that notes its failed calls as points does not turn a dead browser into the app's failure", async () => {
    await using app = await helloPage();
    let deaths = 0;
    const swallows = judgeOf(async (task, session) => {
      if (deaths < 1) {
        deaths += 1;
        process.kill(-pool.processGroup, "SIGKILL");
      }
      const saw = await session.page.goto(task.target.url).then(String, String);
      const met = await session.page
        .getByRole("heading")
        .isVisible()
        .catch(() => false);
      return { points: [{ point: "a heading", met, saw }], files: [], browserMs: 0 };
    });
    const outcome = await judgedBy(swallows, app);
    expect(outcome.result).toEqual({ verdict: "YES", cause: "judged" });
    expect(outcome.tries).toBe(2);
  });

  test("a check out of time is MISSING when the page answers, and NO when the page hangs", async () => {
    await using app = await helloPage();
    const waits = judgeOf(async ({ target }, session) => {
      await session.page.goto(target.url);
      await session.page.waitForEvent("popup", { timeout: 60_000 });
      throw new Error("never");
    });
    const late = await judgedBy(waits, app);
    expect(late.result).toEqual({ verdict: "MISSING", cause: "budget", class: "time_limit" });
    expect(late.evidenceFiles).toContain("screenshot.webp");
    await using hung = await serve((_request, response) => {
      response
        .setHeader("content-type", "text/html")
        .end("<h1>Spin</h1><script>setTimeout(() => { for (;;); }, 300)</script>");
    });
    expect((await judgedBy(waits, hung)).result).toEqual({ verdict: "NO", cause: "judged", class: "page_hung" });
  });

  test("a page that always crashes its renderer is the app's failure, once fresh browsers agree", async () => {
    await using app = await helloPage();
    const crashes = judgeOf(async ({ target }, session) => {
      await session.page.goto(target.url);
      // Our own call, so that the test does not depend on a fault of this Chromium.
      const cdp = await session.context.newCDPSession(session.page);
      await cdp.send("Page.crash");
      throw new Error("never");
    });
    const outcome = await judgedBy(crashes, app);
    expect(outcome.result).toEqual({ verdict: "NO", cause: "judged", class: "page_crashed" });
    expect(outcome.tries).toBe(3);
  });

  test("a worn-out browser is replaced while its sessions end in peace", async () => {
    if (chromium === undefined) return;
    await using small = await openBrowserPool({ chromium, maxContextsPerBrowser: 2 });
    await using app = await helloPage();
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const first = small.processGroup;
    await using kept = await small.openSession(way.target, { evidenceDir: folder.path });
    {
      await using second = await small.openSession(way.target, { evidenceDir: folder.path });
      expect(small.processGroup).toBe(first);
      await second.page.goto(way.target.url);
    }
    await using third = await small.openSession(way.target, { evidenceDir: folder.path });
    expect(small.processGroup).not.toBe(first);
    await third.page.goto(way.target.url);
    await kept.page.goto(way.target.url);
    await kept[Symbol.asyncDispose]();
    await expect.poll(() => processesOf(first).length, { timeout: 10_000 }).toBe(0);
  });

  test("disposing leaves no process and no folder, also while a page loops over alerts or spins", async () => {
    if (chromium === undefined) return;
    const own = await openBrowserPool({ chromium });
    const group = own.processGroup;
    expect(foldersOf(group)).toHaveLength(1);
    await using app = await servePages("dialogs");
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const session = await own.openSession(way.target, { evidenceDir: folder.path });
    await session.page.goto(`${way.target.url}endless.html`);
    await session.ended;
    const spinning = await own.openSession(way.target, { evidenceDir: folder.path });
    await spinning.page.goto(way.target.url);
    await spinning.page.evaluate("setTimeout(() => { for (;;); }, 0)");
    await own[Symbol.asyncDispose]();
    expect(processesOf(group)).toEqual([]);
    expect(foldersOf(group)).toEqual([]);
  });

  test("a run that is killed leaves no browser and no folder behind", async () => {
    const script = fileURLToPath(new URL("abandon-pool.ts", import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", script], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const signal = await new Promise((resolve) => child.on("close", (_code, by) => resolve(by)));
    expect(signal).toBe("SIGKILL");
    const group = Number(said);
    expect(group).toBeGreaterThan(1);
    await expect.poll(() => processesOf(group).length, { timeout: 20_000 }).toBe(0);
    await expect.poll(() => foldersOf(group), { timeout: 5000 }).toEqual([]);
  });
});
