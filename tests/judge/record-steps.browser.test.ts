import { chromium as playwright, type Browser, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StepRecorder } from "../../src/judge/record-steps.ts";
import { chromiumForTests, serve } from "./browser-support.ts";

const chromium = await chromiumForTests();

describe.skipIf(chromium === undefined)("recorded steps", () => {
  let browser: Browser;
  beforeAll(async () => {
    if (chromium === undefined) return;
    // Our own content only, so that no protection is needed.
    browser = await playwright.launch({ executablePath: chromium.executablePath, chromiumSandbox: false });
  });
  afterAll(async () => browser.close());

  async function recorded(use: (page: Page) => Promise<void>): Promise<{ steps: string[]; recorder: StepRecorder }> {
    const steps: string[] = [];
    const recorder = new StepRecorder((call, outcome) => steps.push(`${call} ${outcome.replace(/\d+ ms/, "N ms")}`));
    await using context = await browser.newContext();
    const page = await context.newPage();
    await page.setContent(`<ul><li>Milk <button>Delete</button></li><li>Bread <button>Delete</button></li></ul>`);
    await use(recorder.wrap(page, "page"));
    return { steps, recorder };
  }

  test("say what was called on what, with options, expressions and locators in locators", async () => {
    const { steps } = await recorded(async (page) => {
      const row = page.getByRole("listitem").filter({ has: page.getByText(/Bread/), hasText: "Bread" });
      await row.getByRole("button", { name: "Delete" }).click({ timeout: 1000 });
      for (const item of await page.getByRole("listitem").all()) await item.innerText();
      await page.keyboard.press("Tab");
    });
    expect(steps).toEqual([
      'getByRole("listitem").filter({has: getByText(/Bread/), hasText: "Bread"}).getByRole("button", {name: "Delete"}).click({timeout: 1000}) N ms',
      'getByRole("listitem").all() N ms',
      'getByRole("listitem").all()[0].innerText() N ms',
      'getByRole("listitem").all()[1].innerText() N ms',
      'page.keyboard.press("Tab") N ms',
    ]);
  });

  test("wait with an action until the page's scripts have run, as a person does who sees the page come up", async () => {
    await using app = await serve((request, response) => {
      response.setHeader("content-type", request.url === "/late.js" ? "text/javascript" : "text/html");
      const script = `document.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        document.querySelector("output").textContent = "by script";
      });`;
      // The script comes late, so a robot that acts on the first sight of the button submits the form without it.
      if (request.url === "/late.js") setTimeout(() => response.end(script), 300);
      else if (request.url === "/form") {
        response.end(`<h1>Form</h1><form action="/wrong"><button>Send</button></form><output></output>
          <script type="module" src="/late.js"></script>`);
      } else response.end(`<a href="/form">Open</a>`);
    });
    await recorded(async (page) => {
      await page.goto(`http://127.0.0.1:${app.port}/`);
      await page.getByRole("link", { name: "Open" }).click();
      await page.getByRole("heading", { name: "Form" }).waitFor();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("by script").waitFor({ timeout: 5000 });
      expect(new URL(page.url()).pathname).toBe("/form");
    });
  });

  test("keep the error of a call, and tell that it failed", async () => {
    const { steps } = await recorded(async (page) => {
      await expect(page.getByText("Cheese").click({ timeout: 50 })).rejects.toMatchObject({ name: "TimeoutError" });
    });
    expect(steps).toEqual(['getByText("Cheese").click({timeout: 50}) N ms: TimeoutError']);
  });

  test("leave objects, listeners and their removal as they are without recording", async () => {
    await recorded(async (page) => {
      expect(page.context().pages()[0]).toBe(page);
      const seen: Page[] = [];
      const listener = (opened: Page): void => void seen.push(opened);
      page.context().on("page", listener);
      const second = await page.context().newPage();
      page.context().off("page", listener);
      await page.context().newPage();
      expect(seen).toEqual([second]);
      expect(seen[0]).toBe(second);
      expect(await page.evaluate(([a, b]) => Number(a) + Number(b), [1, 2])).toBe(3);
    });
  });

  test("count time once when calls overlap", async () => {
    const startedAt = performance.now();
    const { recorder } = await recorded(async (page) => {
      await Promise.all([1, 2, 3].map(async () => page.waitForEvent("popup", { timeout: 300 }).catch(() => undefined)));
    });
    expect(recorder.browserMs()).toBeGreaterThanOrEqual(290);
    expect(recorder.browserMs()).toBeLessThanOrEqual(performance.now() - startedAt);
  });
});
