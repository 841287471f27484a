import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import axe from "axe-core";
import { chromium as launcher, type Browser, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { writeReport } from "../../../src/jobs/report.ts";
import { chromiumForTests } from "../../judge/browser-support.ts";
import { makeTempFolder } from "../../temp-folder.ts";
import { HOSTILE, writeHostileRun } from "./hostile-run.ts";

const chromium = await chromiumForTests();
const golden = fileURLToPath(new URL("../../../traces/forgetful", import.meta.url));

describe.skipIf(chromium === undefined)("report in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    if (chromium !== undefined) browser = await launcher.launch({ executablePath: chromium.executablePath });
  });
  afterAll(async () => browser.close());

  interface View {
    readonly colorScheme?: "light" | "dark";
    readonly width?: number;
  }

  /** Opens a page; `said` collects what a browser says of it. */
  async function open(url: string, { colorScheme = "light", width = 1200 }: View = {}) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
    onTestFinished(() => page.close());
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(error.message));
    page.on("requestfailed", (request) => said.push(`${request.url()} failed`));
    page.on("request", (request) => {
      if (!/^(file:|http:\/\/127\.0\.0\.1:)/.test(request.url())) said.push(`asked for ${request.url()}`);
    });
    await page.goto(url);
    return { page, said };
  }

  const reportOf = async (...runs: string[]): Promise<string> => {
    const out = join(await makeTempFolder(), "report");
    await writeReport({ runs, out });
    return out;
  };
  const urlOf = (...parts: readonly [string, ...string[]]): string => pathToFileURL(join(...parts)).href;

  async function seriousFindings(page: Page): Promise<string[]> {
    // The policy of the pages forbids added scripts, and this way is not held to it.
    await page.evaluate(axe.source);
    const found = await page.evaluate(
      async () =>
        await (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"], preload: false }),
    );
    return found.violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
  }

  test("the overview leads to the apps, sorts and filters, and the app page names what broke with which request", async () => {
    const out = await reportOf(golden);
    const { page, said } = await open(urlOf(out, "index.html"));
    const rows = page.locator("#apps-table tbody tr:visible");
    await page.getByRole("button", { name: "Grade" }).click();
    await expect.poll(() => rows.first().textContent()).toContain("000002");
    await page.getByLabel("Contains").fill("000001");
    expect(await rows.count()).toBe(1);
    expect(await page.getByText("1 of 2 apps").count()).toBe(1);
    await page.getByLabel("Contains").fill("");
    await page.getByLabel("Show").selectOption("sound");
    expect(await rows.count()).toBe(0);
    await page.getByRole("link", { name: "app 2, request 4" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("App 2, row 000002");
    expect(await page.locator("#request-4").getAttribute("open")).not.toBeNull();
    await page.locator("#request-4[data-state=loaded]").waitFor();
    const line = page.locator("tr", { has: page.getByRole("link", { name: "3.0", exact: true }) }).first();
    expect(await line.textContent()).toContain("broken by request 4");
    expect(await line.textContent()).toContain("root");
    expect(said).toEqual([]);
  });

  test("text, file names and logs of an attacker are shown and do nothing", async () => {
    const run = join(await makeTempFolder(), "run");
    await writeHostileRun(run);
    const out = await reportOf(run);
    const { page, said } = await open(`${urlOf(out, "app-0001.html")}#check-2-4`);
    for (const request of [1, 2, 3]) {
      await page.locator(`#request-${request}`).evaluate((part) => part.setAttribute("open", ""));
      await page.locator(`#request-${request}[data-state=loaded]`).waitFor();
    }
    for (const fold of await page.locator("details").all())
      await fold.evaluate((part) => part.setAttribute("open", ""));
    expect(await page.locator("#request-1 .instruction").textContent()).toBe(HOSTILE);
    expect(await page.locator("#request-2 .saw").first().textContent()).toBe(` saw ${HOSTILE}`);
    const names = await page.locator("#request-2 [data-slot=diff] summary").allTextContents();
    expect(names.join("\n")).toContain(`a "quoted" <b>2</b> 'name' & \u2028.txt`);
    expect(await page.locator("#request-2 [data-slot=logs] pre").textContent()).toBe(HOSTILE);
    await page.locator("#check-2-4 img").last().scrollIntoViewIfNeeded();
    await expect
      .poll(() =>
        page
          .locator("#check-2-4 img")
          .last()
          .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(64);
    expect(await page.evaluate(() => (globalThis as { hacked?: unknown }).hacked)).toBeUndefined();
    expect(said).toEqual([]);
    expect(readdirSync(join(out, "images")).every((name) => /^[0-9a-f]{32}\.webp$/.test(name))).toBe(true);
  });

  test.each([
    { colorScheme: "light", width: 1200 },
    { colorScheme: "dark", width: 390 },
  ] as const)("no serious finding of axe and nothing wider than the page: $colorScheme, $width px", async (view) => {
    const run = join(await makeTempFolder(), "run");
    await writeHostileRun(run);
    const out = await reportOf(golden, run);
    for (const path of [
      "index.html",
      "run-1/index.html",
      "run-1/app-0001.html#check-4-4",
      "run-2/app-0001.html#check-2-4",
    ]) {
      const { page, said } = await open(`${urlOf(out)}/${path}`, view);
      if (path.includes("#")) await page.locator("details[data-state=loaded]").first().waitFor();
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
      const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([path, excess]).toEqual([path, 0]);
      expect(said).toEqual([]);
    }
  });

  test("the same folder works from a web server", async () => {
    const out = await reportOf(golden);
    const types: Record<string, string> = {
      html: "text/html",
      js: "text/javascript",
      css: "text/css",
      svg: "image/svg+xml",
    };
    const server = createServer((request, response) => {
      const name = new URL(request.url ?? "/", "http://localhost").pathname;
      const type = types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      response.setHeader("content-type", type).end(readFileSync(join(out, name)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { page, said } = await open(`http://127.0.0.1:${port}/app-0001.html#request-3`);
    await page.locator("#request-3[data-state=loaded]").waitFor();
    expect(said).toEqual([]);
  });
});
