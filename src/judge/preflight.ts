import { writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import type { Page, Response } from "playwright";
import sharp from "sharp";
import { EvowebError, messageOf } from "../errors.ts";
import { settledWithin } from "./browser-process.ts";
import type { BrowserPool } from "./browser-pool.ts";
import type { BrowserSession, PageNote, SessionTarget } from "./browser-session.ts";
import type { Mask } from "./judge-check.ts";
import { PageDidNotOpen } from "./open-page.ts";

const MAX_TRIES = 3;
const PICTURE = "preflight.webp";
const PICTURE_LIMIT_MS = 6000;
/** What a user can see or use without any text. Their boxes must have a size. */
const MEANINGFUL = "img, svg, canvas, video, input, button, select, textarea, iframe, object, embed, a[href]";

/** What the preflight needs. */
export interface PreflightOptions {
  readonly pool: BrowserPool;
  readonly target: SessionTarget;
  /** Folder for `preflight.webp` and `preflight.jsonl`; exists. */
  readonly evidenceDir: string;
  readonly signal: AbortSignal;
  readonly mask?: Mask;
  /** How long a page that shows nothing may go on rendering; default 10000. */
  readonly renderTimeoutMs?: number;
}

/** How the app looks before its checks: fit to be judged, or all of them are decided here. */
export type PreflightResult = {
  /** Status of the page itself; absent when there was no answer. */
  readonly status?: number;
  /** What was seen, in one sentence. */
  readonly evidence: string;
  readonly evidenceFiles: readonly string[];
} & (
  | { readonly decides: false }
  | {
      readonly decides: true;
      readonly verdict: "NO";
      readonly cause: "app_down";
      readonly class: "http_error" | "render_failed" | "blank_page" | "no_answer" | "page_crashed" | "dialog_loop";
    }
  | {
      readonly decides: true;
      readonly verdict: "MISSING";
      readonly cause: "infra";
      readonly class: "browser" | "host_not_allowed";
    }
);

type Ruling = PreflightResult extends infer Each ? (Each extends unknown ? Omit<Each, "evidenceFiles"> : never) : never;

const down = (className: Extract<Ruling, { verdict: "NO" }>["class"], evidence: string, status?: number): Ruling => ({
  decides: true,
  verdict: "NO",
  cause: "app_down",
  class: className,
  evidence,
  ...(status === undefined ? {} : { status }),
});
const browserFault = (evidence: string): Ruling => ({
  decides: true,
  verdict: "MISSING",
  cause: "infra",
  class: "browser",
  evidence,
});

/** Whether the app answers the same path when it is called localhost; then its refusal was about our name for it only. */
async function answersAsLocalhost(target: SessionTarget): Promise<boolean> {
  const url = new URL(target.url);
  if (url.hostname === "localhost") return false;
  const proxy = new URL(target.proxyServer);
  const host = `localhost:${url.port || "80"}`;
  const to = { host: proxy.hostname, port: proxy.port, path: `http://${host}${url.pathname}`, headers: { host } };
  const status = await new Promise<number>((resolve) => {
    const asked = httpRequest({ ...to, timeout: 3000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(0));
    asked.end();
  });
  return status >= 200 && status < 400;
}

/** Waits until any visible text or meaningful element is there; shadow roots count. */
async function showsSomething(page: Page, timeoutMs: number): Promise<boolean> {
  const something = page.getByText(/\S/).or(page.locator(MEANINGFUL)).filter({ visible: true }).first();
  try {
    await something.waitFor({ state: "visible", timeout: timeoutMs });
    return true;
  } catch {
    return false;
  }
}

/** Whether a picture has one colour only. Closed shadow roots and pure CSS pictures are seen by nothing else. */
async function isUniform(path: string): Promise<boolean> {
  const { channels } = await sharp(path).stats();
  return channels.every((channel) => channel.stdev < 0.5);
}

async function lookAtPage(session: BrowserSession, response: Response, options: PreflightOptions): Promise<Ruling> {
  const renderTimeoutMs = options.renderTimeoutMs ?? 10_000;
  const shows = await showsSomething(session.page, renderTimeoutMs);
  const hasPicture = session.end === undefined && (await session.screenshot(PICTURE, PICTURE_LIMIT_MS));
  const status = response.status();
  if (shows) return { decides: false, status, evidence: "the page shows something" };
  if (hasPicture && !(await isUniform(join(options.evidenceDir, PICTURE)))) {
    return { decides: false, status, evidence: "the page shows something that is neither text nor an element" };
  }
  const errors = session.notes.filter((note) => note.kind === "page_error");
  const nothing = `nothing to be seen ${renderTimeoutMs} ms after the page was opened`;
  if (errors[0] === undefined) return down("blank_page", nothing, status);
  return down("render_failed", `${nothing}; ${errors.length} errors, first: ${errors[0].text}`, status);
}

async function look(session: BrowserSession, options: PreflightOptions): Promise<Ruling> {
  const { target } = options;
  const response = await session.page.goto(target.url);
  if (response === null) return down("blank_page", "the address gives a download instead of a page");
  const status = response.status();
  if (status >= 400) {
    await session.screenshot(PICTURE, PICTURE_LIMIT_MS);
    if (status === 403 && (await answersAsLocalhost(target))) {
      const evidence = `403 for ${new URL(target.url).host}, though the app answers when it is called localhost`;
      return { decides: true, verdict: "MISSING", cause: "infra", class: "host_not_allowed", status, evidence };
    }
    return down("http_error", `${target.url} answered with status ${status}`, status);
  }
  return lookAtPage(session, response, options);
}

const ruleEnd = (session: BrowserSession): Ruling | undefined => {
  const { end } = session;
  if (end === undefined) return undefined;
  return end.class === "browser" ? browserFault(end.text) : down(end.class, end.text);
};

async function lookWithin(session: BrowserSession, options: PreflightOptions): Promise<Ruling> {
  const looking = look(session, options);
  try {
    await Promise.race([looking, session.ended]);
    return ruleEnd(session) ?? (await looking);
  } catch (error) {
    looking.catch(() => undefined);
    if (error instanceof PageDidNotOpen) return down("no_answer", messageOf(error).slice(0, 500));
    // A browser that dies rejects its calls a moment before it is known to be gone.
    await settledWithin(session.ended, 500);
    return ruleEnd(session) ?? browserFault(messageOf(error).slice(0, 500));
  }
}

async function write(options: PreflightOptions, notes: readonly PageNote[], ruling: Ruling): Promise<void> {
  const { mask = (text) => text } = options;
  const masked = notes.map((note) => ({ ...note, text: mask(note.text) }));
  const lines = [...masked, { kind: "result", ...ruling, evidence: mask(ruling.evidence) }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writeFile(join(options.evidenceDir, "preflight.jsonl"), text);
}

async function tryOnce(options: PreflightOptions): Promise<PreflightResult> {
  const session = await options.pool.openSession(options.target, { evidenceDir: options.evidenceDir });
  let ruling: Ruling;
  try {
    ruling = await lookWithin(session, options);
  } finally {
    await session[Symbol.asyncDispose]();
  }
  await write(options, session.notes, ruling);
  return { ...ruling, evidenceFiles: ["preflight.jsonl", ...session.files()] };
}

/**
 * One look at the running app before its checks. A page that gives no answer, an error status, nothing to be seen (also when it
 * is given time) or dialogs without end decides all checks of the request. Faults of the browser are tried again, two times at
 * most. Throws `EvowebError`s of the harness, and the signal's reason when it is aborted.
 */
export async function preflight(options: PreflightOptions): Promise<PreflightResult> {
  let last: PreflightResult | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    options.signal.throwIfAborted();
    try {
      last = await tryOnce(options);
    } catch (error) {
      if (error instanceof EvowebError) throw error;
      last = { ...browserFault(messageOf(error).slice(0, 500)), evidenceFiles: [] };
    }
    if (last.decides && (last.class === "browser" || last.class === "page_crashed")) options.pool.recycle();
    else break;
  }
  if (last === undefined) throw new EvowebError("bug", "The preflight never looked.");
  return last;
}
