import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium as playwright, type Page } from "playwright";
import { findChromium, judgeCheck, openAppProxy, openBrowserPool, type Chromium, type Judge } from "../src/index.ts";
import { watchBrowserMemory } from "./browser-memory.ts";
import { median } from "./median.ts";

const ROUNDS = 5;
const AT_A_TIME = [1, 4, 8];
/** Checks of one round for each of those that run at a time; a round is long against one check. */
const CHECKS_PER_LANE = 4;

const html = `<!doctype html><title>Bench</title><h1>Bench</h1><p id="state">waiting</p><div id="rows"></div><script>
  for (let i = 1; i <= 500; i += 1) {
    const button = document.createElement("button");
    button.textContent = "Button " + i;
    button.onclick = () => { document.querySelector("#state").textContent = "pressed " + i; };
    document.querySelector("#rows").append(button);
  }
  fetch("/data").then((r) => r.text()).then((text) => { document.querySelector("#state").textContent = text; });
</script>`;

/** Runs one check from nothing to its picture. */
type RunCheck = () => Promise<void>;

/** One side of the comparison; `close` ends what is shared. */
interface Side {
  readonly name: string;
  readonly runCheck: RunCheck;
  close(): Promise<void>;
}

/** What every side does with its page. */
async function useApp(page: Page, url: string): Promise<string> {
  await page.goto(url);
  await page.getByText("loaded").waitFor();
  await page.getByRole("button", { name: "Button 500", exact: true }).click();
  return page.locator("#state").innerText();
}

const benchJudge: Judge = {
  name: "bench",
  hash: "",
  timeoutMs: 60_000,
  canJudge: () => true,
  observe: async ({ target }, session) => {
    const saw = await useApp(session.page, target.url);
    return { points: [{ point: "pressed", met: saw === "pressed 500", saw }], files: [], browserMs: 0 };
  },
  rule: ({ evidence: { points } }) =>
    Promise.resolve({ verdict: points[0]?.met === true ? "YES" : "NO", cause: "judged" }),
};

/** A browser for this check only, as published judges do it. */
function onePerCheck(name: string, browser: Chromium, url: string): Side {
  const runCheck = async (): Promise<void> => {
    const own = await playwright.launch({ executablePath: browser.executablePath, chromiumSandbox: false });
    const page = await own.newPage({ viewport: { width: 1280, height: 720 } });
    if ((await useApp(page, url)) !== "pressed 500") throw new Error("the bench page did not work");
    await page.screenshot();
    await own.close();
  };
  return { name, runCheck, close: async () => undefined };
}

/** The pool with all that a real check has: sandbox, proxy, recorded steps, WebP picture, files. */
async function pooled(browser: Chromium, port: number): Promise<Side> {
  const pool = await openBrowserPool({ chromium: browser });
  const proxy = await openAppProxy({ connect: async (to) => connect(to, "127.0.0.1") });
  const url = `http://localhost:${port}/`;
  const folder = await mkdtemp(join(tmpdir(), "evoweb-bench-"));
  const signal = new AbortController().signal;
  const check = { task: "", expectedResult: "", role: "functional" } as const;
  const target = { url, proxyServer: proxy.server };
  const restart = async (): Promise<string> => url;
  const common = {
    rowId: "",
    request: 1,
    checkIndex: 0,
    sample: "1",
    check,
    target,
    restart,
    timeoutMs: 60_000,
    signal,
  };
  return {
    name: "our pool",
    runCheck: async () => {
      const evidenceDir = await mkdtemp(join(folder, "check-"));
      const { result, evidenceFiles } = await judgeCheck(benchJudge, { pool, task: { ...common, evidenceDir } });
      if (result.verdict !== "YES" || evidenceFiles.length !== 2) throw new Error("the bench page did not work");
    },
    close: async () => {
      await pool[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

async function runRound(runCheck: RunCheck, atATime: number): Promise<{ perMinute: number; bytes: number }> {
  using memory = watchBrowserMemory(100);
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (let count = 0; count < CHECKS_PER_LANE; count += 1) await runCheck();
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  const minutes = (performance.now() - startedAt) / 60_000;
  return { perMinute: (CHECKS_PER_LANE * atATime) / minutes, bytes: memory.peak() };
}

async function compare(sides: readonly (() => Promise<Side>)[], atATime: number): Promise<void> {
  const figures = new Map<string, { perMinute: number[]; bytes: number[] }>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const open of sides) {
      const side = await open();
      const of = figures.get(side.name) ?? { perMinute: [], bytes: [] };
      figures.set(side.name, of);
      const { perMinute, bytes } = await runRound(side.runCheck, atATime);
      of.perMinute.push(perMinute);
      of.bytes.push(bytes);
      await side.close();
    }
  }
  const [ours, ...others] = [...figures].map(([name, { perMinute, bytes }]) => ({
    name,
    perMinute: median(perMinute),
    megabytes: median(bytes) / 1e6,
  }));
  if (ours === undefined) return;
  const show = (perMinute: number, megabytes: number): string =>
    `${perMinute.toFixed(0)}/min, ${megabytes.toFixed(0)} MB`;
  console.log(`  ${atATime} at a time: ${ours.name} ${show(ours.perMinute, ours.megabytes)}`);
  for (const { name, perMinute, megabytes } of others) {
    const ratio = `${(ours.perMinute / perMinute).toFixed(2)}x the checks with ${(ours.megabytes / megabytes).toFixed(2)}x the memory`;
    console.log(`    against ${name} (${show(perMinute, megabytes)}): ${ratio}`);
  }
}

/** Checks per minute and peak memory of all browser processes: our pool against a browser of its own for each check. */
export async function benchBrowser(): Promise<void> {
  const found = await findChromium({ explicitPath: process.env["EVOWEB_CHROMIUM"], playwrightAllowed: true });
  const full = await findChromium({
    explicitPath: process.env["EVOWEB_FULL_CHROMIUM"] ?? "/usr/bin/chromium",
    playwrightAllowed: true,
  }).catch(() => undefined);
  const app = createServer((request, response) => {
    response.setHeader("content-type", "text/html").end(request.url === "/data" ? "loaded" : html);
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const { port } = app.address() as AddressInfo;
  const url = `http://localhost:${port}/`;
  console.log(`  ${found.kind} ${found.version}; median of ${ROUNDS}; memory is the sum of resident sets at its peak`);
  const sides: (() => Promise<Side>)[] = [async () => pooled(found, port)];
  if (full === undefined) console.log("  no full Chromium found: that side is left out");
  else sides.push(async () => onePerCheck("one full Chromium per check", full, url));
  sides.push(async () => onePerCheck(`one ${found.kind} per check`, found, url));
  for (const atATime of AT_A_TIME) await compare(sides, atATime);
  app.closeAllConnections();
  app.close();
}
