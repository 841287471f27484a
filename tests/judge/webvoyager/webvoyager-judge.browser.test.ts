import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIMIT_TEXT, scoreTranscript } from "../../../src/dataset/webvoyager-transcript.ts";
import { openBrowserPool, type BrowserPool } from "../../../src/judge/browser-pool.ts";
import { judgeCheck, type JudgedCheck } from "../../../src/judge/judge-check.ts";
import { writePublishedLayout } from "../../../src/judge/webvoyager/published-layout.ts";
import { WebvoyagerRecord } from "../../../src/judge/webvoyager/record.ts";
import { createWebvoyagerJudge } from "../../../src/judge/webvoyager/webvoyager-judge.ts";
import { ModelError, type ChatModel } from "../../../src/model/chat.ts";
import { openScriptedModel } from "../../model/open-model.ts";
import {
  chromiumForTests,
  serve,
  servePages,
  startFixture,
  targetOf,
  temporaryFolder,
  type Running,
} from "../browser-support.ts";
import { clickOn, doing, scriptedModel, type Line, type ScriptedModel } from "./scripted-model.ts";

const chromium = await chromiumForTests();
const YES = doing("ANSWER; [YES]");
const NO = doing("ANSWER; [NO]");
/** YES when all texts are in the newest observation, else NO with what was there. */
const yesIf =
  (...texts: readonly string[]): Line =>
  ({ text }) =>
    texts.every((one) => text.includes(one)) ? YES : doing(`ANSWER; [NO: ${text.replaceAll("]", ")")}]`);

interface Outcome extends JudgedCheck {
  readonly verdict: string;
  readonly record: WebvoyagerRecord;
  readonly replies: readonly string[];
  /** What the published layout holds when it is written, and its score when it is read again. */
  readonly published: readonly string[];
  readonly rescored: ReturnType<typeof scoreTranscript>;
  readonly model: ScriptedModel;
}

describe.skipIf(chromium === undefined)("the published protocol in a browser", () => {
  let pool: BrowserPool;
  beforeAll(async () => {
    if (chromium !== undefined) pool = await openBrowserPool({ chromium });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  async function judged(
    app: Running,
    lines: readonly Line[],
    options: {
      readonly verdictRule?: "legacy" | "strict";
      readonly timeoutMs?: number;
      readonly over?: ChatModel;
    } = {},
  ): Promise<Outcome> {
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const model = scriptedModel(lines);
    const { verdictRule = "strict", timeoutMs = 120_000, over = model } = options;
    const task = {
      rowId: "cases",
      request: 1,
      checkIndex: 0,
      sample: "1",
      check: { task: "Use it", expectedResult: "It works", role: "functional" as const },
      target: way.target,
      restart: async () => way.target.url,
      evidenceDir: folder.path,
      timeoutMs,
      signal: new AbortController().signal,
    };
    const result = await judgeCheck(createWebvoyagerJudge({ model: over, verdictRule }), { pool, task });
    const empty = { messages: [], calls: [], screens: [] };
    const record = WebvoyagerRecord.parse(result.evidence.record ?? empty);
    const results = join(folder.path, "results/task1_0");
    await writePublishedLayout(results, { record, evidenceDir: folder.path });
    const text = await readFile(join(results, "interact_messages.json"), "utf8");
    const messages = WebvoyagerRecord.shape.messages.parse(JSON.parse(text));
    return {
      ...result,
      verdict: result.result.verdict,
      record,
      replies: record.messages.flatMap(({ role, content }) =>
        role === "assistant" && typeof content === "string" ? [content] : [],
      ),
      published: (await readdir(results)).sort(),
      rescored: scoreTranscript(messages),
      model,
    };
  }

  const servePage = async (body: string): Promise<Running> =>
    serve((_, response) => response.setHeader("content-type", "text/html").end(`<!doctype html><body>${body}`));

  test("types, presses Enter, sees the effect, and is written and read back to the same score", async () => {
    await using app = await servePage(`<input aria-label="New" value="old"> <ul></ul><script>
      document.querySelector("input").onkeydown = async ({ key, target }) => {
        if (key !== "Enter") return;
        const text = target.value;
        await fetch("/save");
        document.querySelector("ul").innerHTML += "<li>" + text + "</li>";
      };</script>`);
    const outcome = await judged(app, [
      ({ label }) => doing(`Type [${label("New")}]; [milk and bread]`),
      yesIf('"milk and bread"'),
    ]);
    expect(outcome.result).toEqual({ verdict: "YES", cause: "judged", rules: { legacy: "YES", strict: "YES" } });
    expect(outcome.usage).toEqual({ calls: 2, inputTokens: 200, outputTokens: 20, costUsd: null });
    expect(outcome.published).toEqual(["agent.log", "interact_messages.json", "screenshot1.png", "screenshot2.png"]);
    expect(outcome.rescored).toEqual({ legacy: "YES", strict: "YES", end: "answered" });
    expect(outcome.evidenceFiles).toEqual(expect.arrayContaining(["call-01.webp", "call-02.webp", "evidence.json"]));
    const [request] = outcome.model.requests;
    expect(request).toMatchObject({ temperature: 1, seed: 42, maxTokens: 1000 });
    const parts = request?.messages[1]?.content;
    const image = typeof parts === "string" ? undefined : parts?.find((part) => part.type === "image");
    expect(await sharp(image?.type === "image" ? image.bytes : "").metadata()).toMatchObject({
      format: "png",
      width: 1024,
      height: 768,
    });
  });

  test("after 14 actions the verdict is asked for without an observation; three pictures at most are sent", async () => {
    await using app = await servePage(`<button onclick="this.textContent = Number(this.textContent) + 1">0</button>`);
    const outcome = await judged(app, [
      ...Array.from({ length: 14 }, (_, index) => clickOn(`"${index}"`)),
      ({ text }) => (text.startsWith(LIMIT_TEXT) ? "PARTIAL, it counts" : NO),
    ]);
    expect(outcome.result).toMatchObject({ verdict: "PARTIAL", rules: { legacy: "PARTIAL", strict: "PARTIAL" } });
    expect(outcome.rescored.end).toBe("forced_verdict");
    const { requests } = outcome.model;
    expect(requests).toHaveLength(15);
    const pictures = requests.map(
      ({ messages }) => messages.filter(({ content }) => typeof content !== "string").length,
    );
    expect(pictures).toEqual([1, 2, ...Array.from({ length: 13 }, () => 3)]);
    expect(outcome.published.filter((name) => name.endsWith(".png"))).toHaveLength(14);
  });

  test("replies without form and actions that cannot be done are answered without a picture", async () => {
    await using app = await servePage(`<button>Save</button>`);
    const outcome = await judged(app, [
      "",
      "YES",
      doing("Click [7]"),
      doing("Google"),
      doing("Scroll down"),
      yesIf("cannot"),
    ]);
    expect(outcome.verdict).toBe("YES");
    expect(outcome.record.screens.map(({ call }) => call)).toEqual([1]);
    const told = outcome.record.messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => (typeof content === "string" ? content : "an observation"));
    expect(told.slice(1).map((text) => text.slice(0, 12))).toEqual([
      "Format ERROR",
      "Format ERROR",
      "The action y",
      "The action y",
      "The action y",
    ]);
  });

  test("an element that is gone when it is clicked costs a call, not the check", async () => {
    const streams: ServerResponse[] = [];
    let tellRendered = (): void => undefined;
    const rendered = new Promise<void>((resolve) => (tellRendered = resolve));
    await using app = await serve((request, response) => {
      if (request.url === "/rendered") tellRendered();
      if (request.url !== "/events") {
        return response.setHeader("content-type", "text/html")
          .end(`<!doctype html><div><button>Old</button></div><script>
          new EventSource("/events").onmessage = () => {
            document.querySelector("div").innerHTML = "<button>New</button>";
            fetch("/rendered");
          };</script>`);
      }
      streams.push(response);
      return response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    });
    const clickTooLate: Line = async ({ label }) => {
      for (const stream of streams) stream.write("data: now\n\n");
      await rendered;
      return doing(`Click [${label("Old")}]`);
    };
    const outcome = await judged(app, [clickTooLate, doing("Wait"), yesIf('"New"')]);
    expect(outcome.verdict).toBe("YES");
    expect(outcome.tries).toBe(1);
    expect(outcome.record.screens.map(({ call }) => call)).toEqual([1, 3]);
  });

  test("scrolls the page and an area of it", async () => {
    await using app = await servePage(`<style>body { margin: 0 } #area { height: 200px; overflow: auto }</style>
      <div id="area"><button>First</button><div style="height: 500px"></div><button>Second</button></div>
      <div style="height: 1000px"></div><button>Third</button>`);
    const outcome = await judged(app, [
      ({ label }) => doing(`Scroll [${label("First")}]; [down]`),
      ({ text }) => (text.includes("Second") ? doing("Scroll [WINDOW]; [down]") : NO),
      yesIf("Third"),
    ]);
    expect(outcome.verdict).toBe("YES");
  });

  test("B49: dialogs are answered and told; without end they are the app's failure", async () => {
    await using app = await servePages("dialogs");
    const removed = await judged(app, [
      ({ text, label }) => (text.includes('alert "Welcome!') ? doing(`Click [${label('"Delete"')}]`) : NO),
      ({ text }) => (text.includes('confirm "Delete Milk?": accepted') && !text.includes('"Delete";') ? YES : NO),
    ]);
    expect(removed.verdict).toBe("YES");
    await using endless = await serve((_, response) => {
      void readFile("tests/fixtures/pages/dialogs/endless.html").then((page) =>
        response.setHeader("content-type", "text/html").end(page),
      );
    });
    const looping = await judged(endless, [doing("Wait"), YES]);
    expect(looping.result).toMatchObject({ verdict: "NO", class: "dialog_loop" });
  });

  test("B50: a page that asks on leaving can be left", async () => {
    await using app = await servePages("draft");
    const outcome = await judged(app, [
      ({ label }) => doing(`Type [${label('"Text"')}]; [x]`),
      doing("GoBack"),
      ({ text }) => (text.includes("beforeunload") ? YES : NO),
    ]);
    expect(outcome.verdict).toBe("YES");
  });

  test("B52 B53: nothing in shadow roots is marked, and a frame carries one mark", async () => {
    await using shadow = await servePages("shadow");
    expect((await judged(shadow, [NO])).record.screens[0]?.boxes).toEqual([]);
    await using frames = await startFixture("frames");
    const outcome = await judged(frames, [doing("Click [0]"), doing("Click [1]"), NO]);
    expect(outcome.verdict).toBe("NO");
    expect(outcome.record.screens.map(({ call, boxes }) => [call, boxes.length])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test("B55: new windows are followed, left by going back, and may close themselves", async () => {
    await using app = await servePages("windows");
    const outcome = await judged(app, [
      clickOn("Receipt"),
      ({ text, label }) => (text.includes("a new tab was opened") ? doing(`Click [${label("Close")}]`) : NO),
      clickOn("Help"),
      ({ text }) => (text.includes("Receipt") ? NO : doing("GoBack")),
      yesIf("Receipt", "Help", "a tab was closed"),
    ]);
    expect(outcome.replies.at(-1)).toBe(YES);
    expect(outcome.verdict).toBe("YES");
  });

  test("B56: a click that downloads goes on with the page", async () => {
    await using app = await startFixture("files");
    const outcome = await judged(app, [clickOn("Export"), yesIf("Export")]);
    expect(outcome.verdict).toBe("YES");
    expect(outcome.evidenceFiles).toContain("downloads/01-notes.json");
  });

  test("B58: a page 600,000 pixels high is marked in its window only", async () => {
    await using app = await servePages("ledger");
    const outcome = await judged(app, [
      doing("Scroll [WINDOW]; [down]"),
      ({ text }) => (text.length < 5000 ? YES : NO),
    ]);
    expect(outcome.verdict).toBe("YES");
  });

  test("B59: a button that does nothing stays without effect, hidden text is not listed", async () => {
    await using app = await servePages("broken-button");
    const outcome = await judged(app, [clickOn("Open receipt"), yesIf("4711", "12.50")]);
    expect(outcome.verdict).toBe("NO");
    expect(outcome.replies.at(-1)).toContain("Open receipt");
    expect(outcome.replies.at(-1)).not.toContain("12.50");
  });

  test("an empty page is an observation, an address without answer is the app's failure", async () => {
    await using app = await servePage("");
    expect((await judged(app, [NO])).result).toMatchObject({ verdict: "NO", class: "wrong_behaviour" });
    await using gone = await serve((_, response) => response.writeHead(204).end());
    const outcome = await judged(gone, [YES]);
    expect(outcome.result).toMatchObject({
      verdict: "NO",
      class: "no_answer",
      rules: { legacy: "NO", strict: "NO" },
    });
    expect(outcome.model.requests).toEqual([]);
  });

  test("a page that hangs is the app's failure", async () => {
    await using app = await servePage(`<button onclick="for (;;);">Hang</button>`);
    const outcome = await judged(app, [clickOn("Hang"), YES]);
    expect(outcome.result).toMatchObject({ verdict: "NO", class: "page_hung" });
  });

  test("a model that fails leaves the check undecided; the published rule reads the reply before", async () => {
    await using app = await servePage(`<button>Save</button>`);
    const refuse = (failure: "refusal" | "budget"): Line[] => [
      clickOn("Save"),
      () => {
        throw new ModelError(failure, "no", { usage: { calls: 1, inputTokens: 5, outputTokens: 0, costUsd: null } });
      },
    ];
    const strict = await judged(app, refuse("refusal"));
    expect(strict.result).toEqual({
      verdict: "MISSING",
      cause: "judge_error",
      class: "refusal",
      rules: { legacy: "NO", strict: "MISSING" },
    });
    expect(strict.tries).toBe(3);
    expect(strict.usage).toMatchObject({ calls: 6, inputTokens: 315 });
    expect(strict.rescored).toEqual({ legacy: "NO", strict: "MISSING", end: "api_failure" });
    expect((await judged(app, refuse("refusal"), { verdictRule: "legacy" })).result).toMatchObject({
      verdict: "NO",
      cause: "judged",
    });
    expect((await judged(app, refuse("budget"), { verdictRule: "legacy" })).result).toMatchObject({
      verdict: "MISSING",
      cause: "budget",
    });
  });

  test("over HTTP the picture is sent with temperature and seed; a reply without content is no verdict", async () => {
    await using app = await servePage(`<button>Save</button>`);
    await using answering = await openScriptedModel([doing("Click [0]"), YES]);
    const outcome = await judged(app, [], { over: answering.model });
    expect(outcome.verdict).toBe("YES");
    expect(outcome.usage).toMatchObject({ calls: 2, inputTokens: 200, outputTokens: 40 });
    const { calls } = answering.server;
    expect(calls).toHaveLength(2);
    expect(calls[1]?.body).toMatchObject({ temperature: 1, seed: 42 });
    expect(JSON.stringify(calls[1]?.body).match(/data:image\/png;base64,/gu)).toHaveLength(2);
    await using silent = await openScriptedModel([{ type: "completion", content: null }]);
    expect((await judged(app, [], { over: silent.model })).result).toEqual({
      verdict: "MISSING",
      cause: "judge_error",
      class: "malformed_reply",
      rules: { legacy: "NO", strict: "MISSING" },
    });
  });

  test("a check that runs out of time ends by itself, undecided, with what was seen", async () => {
    await using app = await servePage(`<button>Save</button>`);
    await using silent = await openScriptedModel([doing("Click [0]"), { type: "silence" }]);
    const outcome = await judged(app, [], { over: silent.model, timeoutMs: 8000 });
    expect(outcome.result).toMatchObject({ verdict: "MISSING", cause: "budget", class: "time_limit" });
    expect(outcome.record.screens).toHaveLength(2);
  });
});
