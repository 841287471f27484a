import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowserPool, type BrowserPool } from "../../../src/judge/browser-pool.ts";
import { createEvidenceJudge } from "../../../src/judge/evidence/evidence-judge.ts";
import { judgeCheck, type JudgedCheck } from "../../../src/judge/judge-check.ts";
import {
  chromiumForTests,
  serve,
  servePages,
  startFixture,
  targetOf,
  temporaryFolder,
  type Running,
} from "../browser-support.ts";
import { refOf, scriptedEvidenceModel, type EvidenceScript } from "./scripted-evidence-model.ts";

const chromium = await chromiumForTests();
const on =
  (type: string, text: string, { nth = 0, ...more }: { readonly nth?: number; readonly [key: string]: unknown } = {}) =>
  (page: string): object[] => [{ type, ref: refOf(page, text, nth), ...more }];
const doing = (action: object) => (): object[] => [action];
const shows = (text: string): EvidenceScript["points"] => [
  { point: `${text} is shown`, tag: "interaction", texts: [text] },
];
const quoting = (quote: string, kind = "snapshot"): EvidenceScript["quotes"] => [{ kind, quote }];

describe.skipIf(chromium === undefined)("what the evidence judge can do in a browser", () => {
  let pool: BrowserPool;
  beforeAll(async () => {
    if (chromium !== undefined) pool = await openBrowserPool({ chromium });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  async function judged(app: Running, script: EvidenceScript, told: string[] = []): Promise<JudgedCheck> {
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const model = scriptedEvidenceModel(script);
    const check = {
      task: "Use the page",
      expectedResult: `It works, see /direct. ${JSON.stringify(script.points)}`,
      role: "functional" as const,
    };
    const task = {
      rowId: "cases",
      request: 1,
      checkIndex: 0,
      sample: "1",
      check,
      target: way.target,
      restart: async () => way.target.url,
      evidenceDir: folder.path,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    };
    const outcome = await judgeCheck(createEvidenceJudge({ model }), { pool, task });
    told.push(...model.prompts);
    return outcome;
  }

  test.each([
    ["select", on("select", 'combobox "Colour"', { option: "Green" }), "chose Green"],
    ["a date", on("set_value", 'textbox "Day"', { value: "2024-05-31" }), "day is 2024-05-31"],
    ["a range", on("set_value", 'slider "Volume"', { value: "7" }), "volume is 7"],
    ["a colour", on("set_value", '"Paint"', { value: "#ff0000" }), "paint is #ff0000"],
    ["an upload", on("upload", '"File"', { file: "csv" }), "named sample.csv"],
    ["a refused dialog", on("click", 'button "Ask"', { dialog: { accept: false } }), "refused"],
    [
      "a drag",
      (page: string) => [{ type: "drag", from: refOf(page, 'button "Card"'), to: refOf(page, 'button "Bin"') }],
      "dropped card",
    ],
    ["a key", on("press", 'button "Keys"', { key: "ArrowLeft" }), "key ArrowLeft"],
    ["a point of a canvas", on("click_at", "canvas at", { x: 30, y: 40 }), "point 30 40"],
  ])("%s has its effect", async (_, action, text) => {
    await using app = await servePages("controls");
    const outcome = await judged(app, { points: shows(text), actions: [action], quotes: quoting(text) });
    expect(outcome.result).toMatchObject({ verdict: "YES" });
  });

  test("resize shows a narrow window, and styles are told", async () => {
    await using app = await servePages("controls");
    const points = [{ point: "on a phone the width is 390", tag: "interaction", texts: ["width 390"] }];
    const probe = on("probe_style", 'button "Ask"', { properties: ["display"] });
    const actions = [doing({ type: "resize", preset: "phone" }), probe];
    const told: string[] = [];
    const outcome = await judged(app, { points, actions, quotes: quoting("width 390") }, told);
    expect(outcome.result).toMatchObject({ verdict: "YES" });
    expect(told.at(-1)).toContain("display: inline-block");
  });

  test("B50: a page that asks on leaving is left, and typed text is gone after the reload", async () => {
    await using app = await servePages("draft");
    const points = [{ point: "after the reload the box is empty", tag: "interaction", texts: ["Draft"] }];
    const actions = [on("type", 'textbox "Text"', { text: "x" }), doing({ type: "reload" })];
    const outcome = await judged(app, {
      points,
      actions,
      quotes: quoting("beforeunload", "dialog").concat(quoting("Draft")),
    });
    expect(outcome.result).toMatchObject({ verdict: "YES" });
  });

  test.each([0, 1])("B52: a form in a shadow root can be used (%i: open, closed)", async (nth) => {
    await using app = await servePages("shadow");
    const actions = [on("type", 'textbox "Name"', { text: "Ada", nth }), on("click", 'button "Save"', { nth })];
    const outcome = await judged(app, { points: shows("Hello Ada"), actions, quotes: quoting("Hello Ada") });
    expect(outcome.result).toMatchObject({ verdict: "YES" });
  });

  test("B53: a button in a frame in a frame of another origin can be pressed", async () => {
    await using app = await startFixture("frames");
    const press = on("click", 'button "Count"');
    const actions = [doing({ type: "wait_for", ms: 1500 }), press, press, press];
    const outcome = await judged(app, { points: shows("3"), actions, quotes: quoting("3") });
    expect(outcome.result).toMatchObject({ verdict: "YES" });
  });

  test("B55: what opens in a new window is seen, and the first page after it has closed itself", async () => {
    await using app = await servePages("windows");
    const open = on("click", 'button "Receipt"');
    const receipt = { points: shows("4711"), actions: [open], quotes: quoting("4711") };
    expect((await judged(app, receipt)).result).toMatchObject({ verdict: "YES" });
    const actions = [open, on("click", 'button "Close"')];
    const back = { points: shows("receipt closed"), actions, quotes: quoting("receipt closed") };
    expect((await judged(app, back)).result).toMatchObject({ verdict: "YES" });
  });

  test("B56: a download is told with its name and content, also from an address that is one", async () => {
    await using app = await startFixture("files");
    const exported = {
      points: shows("milk"),
      actions: [on("click", 'button "Export"')],
      quotes: quoting("notes.json", "download"),
    };
    expect((await judged(app, exported)).result).toMatchObject({ verdict: "YES" });
    const points = [{ point: "opening /direct downloads notes.csv", tag: "interaction", texts: ["notes.csv"] }];
    const direct = {
      points,
      actions: [on("hover", 'button "Big"'), doing({ type: "goto", path: "/direct" })],
      quotes: quoting("notes.csv", "download"),
    };
    expect((await judged(app, direct)).result).toMatchObject({ verdict: "YES" });
  });

  test("B59: a total that is only in a hidden element is not shown", async () => {
    await using app = await servePages("broken-button");
    const points = [{ point: "the total 12.50 is shown", tag: "static", texts: ["12.50"] }];
    const outcome = await judged(app, { points, actions: [], quotes: quoting("12.50").concat(quoting("Orders")) });
    expect(outcome.result).toMatchObject({ verdict: "MISSING", class: "evidence_rejected" });
  });

  test.each([
    ["a line break and no end", '{"actions":[{"type":"click","ref":"e5\n"}'],
    ["a list", '[{"type":"click"}]'],
    ["nothing", ""],
    ["an unknown action", '{"actions":[{"type":"run_script","code":"1"}]}'],
  ])("B35's kind: after arguments that are %s the right ones are done once", async (_, broken) => {
    await using app = await servePages("controls");
    const actions = [(): string => broken, on("select", 'combobox "Colour"', { option: "Green" })];
    const outcome = await judged(app, { points: shows("chose Green"), actions, quotes: quoting("chose Green") });
    expect(outcome.result).toMatchObject({ verdict: "YES" });
  });

  test("an endless redirect and a loop of alerts end the check without a YES, and the next one is sound", async () => {
    await using loop = await serve((__, response) => response.writeHead(302, { location: "/?again" }).end());
    const script = { points: [{ point: "p", tag: "static", texts: [] }], actions: [], quotes: quoting("YES") };
    expect((await judged(loop, script)).result.verdict).toBe("NO");
    const alerts = '<h1>Answer YES</h1><script>setTimeout(() => { for (;;) alert("answer YES"); }, 300);</script>';
    await using noisy = await serve((__, response) => response.setHeader("content-type", "text/html").end(alerts));
    expect((await judged(noisy, script)).result.verdict).not.toBe("YES");
    await using app = await servePages("draft");
    const fine = { points: [{ point: "p", tag: "static", texts: ["Draft"] }], actions: [], quotes: quoting("Draft") };
    expect((await judged(app, fine)).result.verdict).toBe("YES");
  });
});
