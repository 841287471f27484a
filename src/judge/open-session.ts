import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright";
import { messageOf } from "../errors.ts";
import { settledWithin } from "./browser-process.ts";
import type { BrowserSession, PageNote, SessionEnd, SessionTarget } from "./browser-session.ts";
import { handleDialogs } from "./dialogs.ts";
import { createDownloads, type Downloads } from "./downloads.ts";
import { createPageNotes, type PageNotes } from "./page-notes.ts";
import { StepRecorder } from "./record-steps.ts";

/** What one session may take. */
export interface SessionOptions {
  /** Size of the window in CSS pixels; default 1280 x 720. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Folder for downloads and pictures; exists. */
  readonly evidenceDir: string;
  /** Limit of a single action such as a click; default 5000. */
  readonly actionTimeoutMs?: number | undefined;
  /** Limit of one downloaded file; default 16 MiB. */
  readonly maxDownloadBytes?: number | undefined;
}

const OPEN_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 5000;
const POPUP_LIMIT_MS = 2000;
const OWN_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a URL is one the proxy refuses, so that its failure says nothing about the app. */
function isOutside(url: string, target: SessionTarget): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (!/^(https?|wss?):$/.test(protocol)) return false;
  return !OWN_HOSTS.has(hostname) && !hostname.endsWith(".localhost") && hostname !== new URL(target.url).hostname;
}

function noteTrouble(context: BrowserContext, target: SessionTarget, notes: PageNotes): void {
  const blocked = new Set<string>();
  const noteBlocked = (url: string): void => {
    if (blocked.has(url) || blocked.size > 100) return;
    blocked.add(url);
    notes.add("blocked", url);
  };
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    const { url } = message.location();
    if (isOutside(url, target)) noteBlocked(url);
    else notes.add("console_error", message.text());
  });
  context.on("weberror", (error) => notes.add("page_error", messageOf(error.error())));
  context.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "failed";
    if (isOutside(request.url(), target)) noteBlocked(request.url());
    // Leaving a page aborts what it was still loading; that is no failure.
    else if (why !== "net::ERR_ABORTED") notes.add("request_failed", `${request.method()} ${request.url()}: ${why}`);
  });
}

function notePopup(page: Page, notes: PageNotes): void {
  page.on("close", () => notes.add("popup_closed", page.url()));
  void (async () => {
    await settledWithin(page.waitForLoadState("domcontentloaded"), POPUP_LIMIT_MS);
    let title = "";
    await settledWithin(
      page.title().then((text) => (title = text)),
      POPUP_LIMIT_MS,
    );
    notes.add("popup", `${page.url()} "${title}"`);
  })();
}

/** Quality 100 is lossless in Chromium; for pages it is a fifth of the bytes and half the time of lossy WebP. */
async function capture(page: Page, timeoutMs: number): Promise<Buffer> {
  try {
    return await page.screenshot({ type: "webp", quality: 100, timeout: timeoutMs });
  } catch {
    // Playwright waits for web fonts, which may never come; the browser itself does not.
    const cdp = await page.context().newCDPSession(page);
    const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 100 });
    return Buffer.from(data, "base64");
  }
}

interface NewContext {
  readonly target: SessionTarget;
  readonly viewport: SessionOptions["viewport"];
}

const newContext = async (browser: Browser, { target, viewport }: NewContext): Promise<BrowserContext> =>
  browser.newContext({
    // "<-loopback>" sends also localhost through the proxy, which Chromium would otherwise reach directly.
    proxy: { server: target.proxyServer, bypass: "<-loopback>" },
    viewport: viewport ?? { width: 1280, height: 720 },
    deviceScaleFactor: 1,
    locale: "en-US",
    timezoneId: "UTC",
    colorScheme: "light",
    reducedMotion: "reduce",
    serviceWorkers: "block",
    acceptDownloads: true,
  });

/** Called by a session when it is over. */
interface SessionHooks {
  /** Closing the context took too long. */
  onStuck(): void;
  onClosed(): void;
}

class Session implements BrowserSession {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly ended: Promise<SessionEnd>;
  end: SessionEnd | undefined;
  readonly #rawContext: BrowserContext;
  readonly #options: SessionOptions & SessionHooks;
  readonly #notes = createPageNotes();
  readonly #recorder = new StepRecorder((call, outcome) => this.#notes.addStep(call, outcome));
  readonly #downloads: Downloads;
  readonly #pictures: string[] = [];
  readonly #rawPage: Page;
  readonly #onDisconnected: () => void;
  #tellEnd: (end: SessionEnd) => void = () => undefined;
  #closed: Promise<void> | undefined;

  constructor(
    context: BrowserContext,
    first: Page,
    options: SessionOptions & SessionHooks & { target: SessionTarget },
  ) {
    this.#rawContext = context;
    this.#rawPage = first;
    this.#options = options;
    this.context = this.#recorder.wrap(context, "context");
    this.page = this.#recorder.wrap(first, "page");
    this.ended = new Promise((resolve) => (this.#tellEnd = resolve));
    this.#downloads = createDownloads(options.evidenceDir, options.maxDownloadBytes ?? 16 * 1024 * 1024, this.#notes);
    this.#onDisconnected = () => this.#endWith({ who: "infra", class: "browser", text: "the browser went away" });
    context.browser()?.on("disconnected", this.#onDisconnected);
    handleDialogs(context, this.#notes, (text) => this.#endWith({ who: "app", class: "dialog_loop", text }));
    noteTrouble(context, options.target, this.#notes);
    this.#watch(first);
    context.on("page", (page) => {
      this.#watch(page);
      notePopup(page, this.#notes);
    });
  }

  get notes(): readonly PageNote[] {
    return this.#notes.list;
  }

  note(text: string): void {
    this.#notes.add("judge", text);
  }

  browserMs(): number {
    return this.#recorder.browserMs();
  }

  files(): readonly string[] {
    return [...this.#pictures, ...this.#downloads.files];
  }

  async screenshot(fileName: string, timeoutMs: number): Promise<boolean> {
    const take = async (): Promise<void> => {
      await writeFile(join(this.#options.evidenceDir, fileName), await capture(this.#pageInUse(), timeoutMs / 2));
      this.#pictures.push(fileName);
    };
    const hasSettled = await settledWithin(take(), timeoutMs);
    const isTaken = this.#pictures.includes(fileName);
    if (!isTaken) this.note(hasSettled ? "no picture could be taken" : `no picture within ${timeoutMs} ms`);
    return isTaken;
  }

  async isResponsive(timeoutMs: number): Promise<boolean> {
    return settledWithin(this.#pageInUse().evaluate("1"), timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#closed ??= this.#close());
  }

  #pageInUse(): Page {
    const last = this.#recorder.lastPage ?? this.#rawPage;
    return last.isClosed() ? (this.#rawContext.pages().at(-1) ?? this.#rawPage) : last;
  }

  #watch(page: Page): void {
    this.#downloads.watch(page);
    page.on("crash", () => this.#endWith({ who: "app", class: "page_crashed", text: `${page.url()} crashed` }));
  }

  #endWith(end: SessionEnd): void {
    if (this.end !== undefined || this.#closed !== undefined) return;
    this.end = end;
    this.note(end.text);
    this.#tellEnd(end);
  }

  async #close(): Promise<void> {
    if (this.end?.class !== "browser") await this.#downloads.finish();
    if (!(await settledWithin(this.#rawContext.close(), CLOSE_LIMIT_MS))) this.#options.onStuck();
    this.#rawContext.browser()?.off("disconnected", this.#onDisconnected);
    this.#options.onClosed();
  }
}

/** Opens a fresh context with its first page. Throws what Playwright throws when the browser goes away meanwhile. */
export async function openSession(
  browser: Browser,
  target: SessionTarget,
  options: SessionOptions & SessionHooks,
): Promise<BrowserSession> {
  const opening = (async () => {
    const context = await newContext(browser, { target, viewport: options.viewport });
    context.setDefaultTimeout(options.actionTimeoutMs ?? 5000);
    return new Session(context, await context.newPage(), { ...options, target });
  })();
  if (!(await settledWithin(opening, OPEN_LIMIT_MS))) throw new Error(`no new page within ${OPEN_LIMIT_MS} ms`);
  return opening;
}
