import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowserPool, type BrowserPool } from "../../src/judge/browser-pool.ts";
import { preflight, type PreflightResult } from "../../src/judge/preflight.ts";
import { chromiumForTests, serve, targetOf, temporaryFolder, type Running } from "./browser-support.ts";

const chromium = await chromiumForTests();
const never = new AbortController().signal;

const page = async (html: string, status = 200): Promise<Running> =>
  serve((request, response) => {
    if (request.url === "/never.js") return;
    response.writeHead(request.url === "/" ? status : 404, { "content-type": "text/html" }).end(html);
  });

describe.skipIf(chromium === undefined)("preflight", () => {
  let pool: BrowserPool;
  beforeAll(async () => {
    if (chromium !== undefined) pool = await openBrowserPool({ chromium });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  async function look(app: Running, name = "localhost"): Promise<PreflightResult & { readonly log: string }> {
    await using way = await targetOf(app, name);
    await using folder = await temporaryFolder();
    const options = { pool, target: way.target, evidenceDir: folder.path, signal: never, renderTimeoutMs: 2500 };
    const result = await preflight({ ...options, mask: (text) => text.replaceAll("hunter2", "[masked]") });
    return { ...result, log: await readFile(join(folder.path, "preflight.jsonl"), "utf8") };
  }

  test("a page that shows something is left to its checks, with a picture kept", async () => {
    await using app = await page("<h1>Hello</h1>");
    expect(await look(app)).toMatchObject({
      decides: false,
      status: 200,
      evidenceFiles: ["preflight.jsonl", "preflight.webp"],
    });
  });

  test("a page that renders late is waited for", async () => {
    await using app = await page(
      `<div id="root"></div><script>setTimeout(() => { root.innerHTML = "<button>Go</button>"; }, 1500)</script>`,
    );
    expect(await look(app)).toMatchObject({ decides: false });
  });

  test.each([
    [
      "text in a closed shadow root",
      `<x-a></x-a><script>document.querySelector("x-a").attachShadow({mode: "closed"}).innerHTML = "<p>Hi</p>"</script>`,
    ],
    ["a canvas without any text", `<canvas id="c"></canvas><script>c.getContext("2d").fillRect(5, 5, 50, 50)</script>`],
    ["a picture made of CSS only", `<style>body { background: linear-gradient(red, blue); height: 100vh }</style>`],
    ["text before a script that never arrives", `<p>Hi</p><script src="/never.js"></script>`],
  ])("%s is something", async (_name, html) => {
    await using app = await page(html);
    expect(await look(app)).toMatchObject({ decides: false, status: 200 });
  });

  test("an empty page decides all checks", async () => {
    await using app = await page(`<div id="root"></div><p hidden>text that nobody sees</p>`);
    expect(await look(app)).toMatchObject({
      decides: true,
      verdict: "NO",
      cause: "app_down",
      class: "blank_page",
      evidenceFiles: ["preflight.jsonl", "preflight.webp"],
    });
  });

  test("an empty page with an error in its script failed to render, and the error is kept masked", async () => {
    await using app = await page(`<div id="root"></div><script>throw new Error("no such thing: hunter2")</script>`);
    const result = await look(app);
    expect(result).toMatchObject({ decides: true, verdict: "NO", class: "render_failed" });
    expect(result.log).toContain("no such thing: [masked]");
    expect(result.log).not.toContain("hunter2");
  });

  test.each([500, 404])("status %i decides all checks, whatever the page shows", async (status) => {
    await using app = await page("<h1>Oops</h1>", status);
    expect(await look(app)).toMatchObject({ decides: true, verdict: "NO", class: "http_error", status });
  });

  test("no answer decides all checks", async () => {
    await using app = await serve((_request, response) => void response.destroy());
    const result = await look(app);
    expect(result).toMatchObject({ decides: true, verdict: "NO", cause: "app_down" });
  });

  test("dialogs without end decide all checks", async () => {
    await using app = await page(`<script>for (;;) alert("Again")</script>`);
    expect(await look(app)).toMatchObject({ decides: true, verdict: "NO", class: "dialog_loop" });
  });

  test("a server that refuses only our name for it is no fault of the app", async () => {
    const blocked = (isOpen: (host: string) => boolean): Promise<Running> =>
      serve((request, response) => {
        const isAllowed = isOpen(request.headers.host ?? "");
        response.writeHead(isAllowed ? 200 : 403, { "content-type": "text/html" });
        response.end(isAllowed ? "<h1>App</h1>" : "Blocked request. This host is not allowed.");
      });
    await using picky = await blocked((host) => host.startsWith("localhost"));
    expect(await look(picky, "127.0.0.1")).toMatchObject({
      verdict: "MISSING",
      cause: "infra",
      class: "host_not_allowed",
    });
    await using closed = await blocked(() => false);
    expect(await look(closed, "127.0.0.1")).toMatchObject({ verdict: "NO", cause: "app_down", class: "http_error" });
    expect(await look(closed)).toMatchObject({ verdict: "NO", cause: "app_down", class: "http_error" });
  });
});
