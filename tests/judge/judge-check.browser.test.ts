import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowserPool, type BrowserPool } from "../../src/judge/browser-pool.ts";
import { judgeCheck, type JudgedCheck } from "../../src/judge/judge-check.ts";
import type { Judge } from "../../src/judge/judge.ts";
import { createOracleJudge } from "../../src/judge/oracle-judge.ts";
import {
  chromiumForTests,
  servePages,
  startFixture,
  targetOf,
  temporaryFolder,
  type Running,
} from "./browser-support.ts";

const chromium = await chromiumForTests();
const oraclePath = fileURLToPath(new URL("case-oracles.ts", import.meta.url));

describe.skipIf(chromium === undefined)("judging the browser cases", () => {
  let pool: BrowserPool;
  let judge: Judge;
  beforeAll(async () => {
    if (chromium === undefined) return;
    pool = await openBrowserPool({ chromium });
    judge = await createOracleJudge({ rowIds: ["cases"], oraclePath: () => oraclePath });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  interface Outcome extends JudgedCheck {
    readonly verdict: string;
    readonly files: readonly string[];
    readonly steps: string;
    readonly text: string;
  }

  async function judged(app: Running, request: number, checkIndex: number): Promise<Outcome> {
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const task = {
      rowId: "cases",
      request,
      checkIndex,
      sample: "1",
      check: { task: "", expectedResult: "", role: "functional" as const },
      target: way.target,
      restart: async () => way.target.url,
      evidenceDir: folder.path,
      timeoutMs: 40_000,
      signal: new AbortController().signal,
    };
    const result = await judgeCheck(judge, { pool, task });
    if (result.evidenceFiles.includes("screenshot.webp")) {
      // A page that opened in a window of its own size is pictured as it is; no picture is of the whole page.
      const picture = await sharp(join(folder.path, "screenshot.webp")).metadata();
      expect(picture.format).toBe("webp");
      expect([300, 1280]).toContain(picture.width);
      expect([300, 720]).toContain(picture.height);
    }
    return {
      ...result,
      verdict: result.result.verdict,
      files: (await readdir(folder.path, { recursive: true })).sort(),
      steps: await readFile(join(folder.path, "steps.jsonl"), "utf8"),
      text: result.notes.map((note) => `${note.kind}: ${note.text}`).join("\n"),
    };
  }

  test("B44: a page whose network never goes quiet is judged within seconds", async () => {
    await using app = await startFixture("live");
    const outcome = await judged(app, 44, 0);
    expect(outcome.verdict).toBe("YES");
    expect(outcome.durationMs).toBeLessThan(8000);
    expect(outcome.evidenceFiles).toContain("screenshot.webp");
  });

  test("B49: dialogs are recorded, answered by default, and left to a judge that answers them", async () => {
    await using app = await servePages("dialogs");
    const shown = await judged(app, 49, 0);
    expect(shown.verdict).toBe("YES");
    expect(shown.text).toContain('dialog: alert "Welcome! This page uses cookies.": accepted');
    expect((await judged(app, 49, 1)).verdict).toBe("YES");
    const refused = await judged(app, 49, 2);
    expect(refused.verdict).toBe("YES");
    expect(refused.text).toContain('dialog: confirm "Delete Milk?": left to the judge');
    expect((await judged(app, 49, 3)).verdict).toBe("YES");
    const byDefault = await judged(app, 49, 5);
    expect(byDefault.verdict).toBe("YES");
    expect(byDefault.text).toContain('dialog: confirm "Delete Milk?": accepted');
  });

  test("B49: dialogs without end are the app's failure, and the next check has a sound browser", async () => {
    await using app = await servePages("dialogs");
    const endless = await judged(app, 49, 4);
    expect(endless.result).toEqual({ verdict: "NO", cause: "judged", class: "dialog_loop" });
    expect(endless.steps).toContain("more than 50 dialogs");
    expect(endless.tries).toBe(1);
    expect(endless.durationMs).toBeLessThan(15_000);
    expect((await judged(app, 49, 0)).verdict).toBe("YES");
  });

  test("B50: a page that asks on leaving can be reloaded and closed", async () => {
    await using app = await servePages("draft");
    const reloaded = await judged(app, 50, 0);
    expect(reloaded.verdict).toBe("YES");
    expect(reloaded.text).toMatch(/dialog: beforeunload .*accepted \(leave the page\)/);
    const next = await judged(app, 50, 1);
    expect(next.verdict).toBe("YES");
    expect(next.durationMs).toBeLessThan(5000);
  });

  test("B52: open, closed and slotted shadow roots can be used and read", async () => {
    await using app = await servePages("shadow");
    expect((await judged(app, 52, 0)).verdict).toBe("YES");
    expect((await judged(app, 52, 1)).verdict).toBe("YES");
    expect((await judged(app, 52, 2)).verdict).toBe("YES");
  });

  test("B53: frames in frames of another origin can be used", async () => {
    await using app = await startFixture("frames");
    expect((await judged(app, 53, 0)).verdict).toBe("YES");
  });

  test("B55: new windows are recorded with address and title, and may close themselves", async () => {
    await using app = await servePages("windows");
    const receipt = await judged(app, 55, 0);
    expect(receipt.verdict).toBe("YES");
    expect(receipt.text).toMatch(/popup: .*receipt\.html "Receipt"/);
    expect((await judged(app, 55, 1)).verdict).toBe("YES");
    const closed = await judged(app, 55, 2);
    expect(closed.verdict).toBe("YES");
    expect(closed.text).toMatch(/popup_closed: .*receipt\.html/);
    expect((await judged(app, 55, 3)).text).toMatch(/popup: .*help\.html "Help"/);
  });

  test("B56: downloads are kept in the check's folder with name, size and first bytes told", async () => {
    await using app = await startFixture("files");
    const made = await judged(app, 56, 0);
    expect(made.verdict).toBe("YES");
    expect(made.text).toContain(
      '"notes.json": 17 bytes, kept as downloads/01-notes.json, begins "[{\\"text\\":\\"milk\\"}]"',
    );
    expect(made.files).toContain("downloads/01-notes.json");
    expect(made.evidenceFiles).toContain("downloads/01-notes.json");
    expect((await judged(app, 56, 1)).verdict).toBe("YES");
    expect((await judged(app, 56, 2)).verdict).toBe("YES");
  });

  test("B56: a download without end does not hold up the check, and no name leads out of the folder", async () => {
    await using app = await startFixture("files");
    const big = await judged(app, 56, 3);
    expect(big.verdict).toBe("YES");
    expect(big.durationMs).toBeLessThan(8000);
    expect(big.text).toMatch(/download: "big\.bin": not finished/);
    expect(big.files.filter((name) => name.startsWith("downloads"))).toEqual([]);
    const odd = await judged(app, 56, 4);
    expect(odd.verdict).toBe("YES");
    expect(odd.files).toEqual([
      "downloads",
      expect.stringMatching(/^downloads\/01-[\w.-]*outside\.csv$/),
      "evidence.json",
      "screenshot.webp",
      "steps.jsonl",
    ]);
  });

  test("B58: a page 600,000 pixels high is used and pictured", async () => {
    await using app = await servePages("ledger");
    const shown = await judged(app, 58, 0);
    expect(shown.verdict).toBe("YES");
    expect(shown.evidenceFiles).toContain("screenshot.webp");
    expect(Buffer.byteLength(shown.steps)).toBeLessThan(20_000);
    expect((await judged(app, 58, 1)).verdict).toBe("YES");
  });

  test("B59: a button that does nothing and a hidden total are NO", async () => {
    await using app = await servePages("broken-button");
    expect((await judged(app, 59, 0)).result).toEqual({ verdict: "NO", cause: "judged", class: "wrong_behaviour" });
    expect((await judged(app, 59, 1)).verdict).toBe("NO");
  });
});
