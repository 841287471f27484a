import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright";
import { settledWithin } from "../browser-process.ts";
import type { BrowserSession } from "../browser-session.ts";
import { cut } from "../page-notes.ts";
import { escapePageText } from "./fence.ts";
import { readPage, type PseudoElement, type ReadPage } from "./read-page.ts";
import type { Step, StepEvent } from "./record.ts";
import { renderView } from "./render-view.ts";

/** What of the page a model is shown at once, in characters. */
const MAX_VIEW_CHARS = 12_000;
const PICTURE_LIMIT_MS = 6000;
const SETTLE_LIMIT_MS = 2000;
const SETTLE_EVERY_MS = 120;
const LATE_TAB_MS = 1000;
const MAX_EVENTS = 15;

/** A look at the page in use: what of a step is seen, and what actions need to find elements again. */
export interface Look {
  readonly seen: Pick<Step, "path" | "title" | "view" | "state" | "events" | "hasCanvas" | "picture" | "pictureHash">;
  readonly names: ReadonlyMap<string, string>;
  readonly pseudo: ReadonlyMap<string, PseudoElement>;
  readonly facts: ReadPage["facts"];
}

/** What the observer of one session needs. */
export interface ObserverOptions {
  readonly session: BrowserSession;
  readonly evidenceDir: string;
  /** Address of the app, to leave its origin out: it differs from run to run. */
  readonly origin: () => string;
  readonly signal: AbortSignal;
}

const KINDS: Readonly<Record<string, StepEvent["kind"]>> = {
  dialog: "dialog",
  popup: "popup",
  popup_closed: "popup",
  download: "download",
  console_error: "console",
  page_error: "console",
  request_failed: "network",
};

/** Looks at the pages of one session, and keeps what happened since the last look. */
export class Observer {
  /** What was typed into fields of the document at hand. */
  readonly typed = new Set<string>();
  /** The page in use. */
  page: Page;
  readonly #options: ObserverOptions;
  readonly #failed: string[] = [];
  #notesSeen = 0;
  #last: { readonly file: string; readonly hash: string } | undefined;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.page = options.session.page;
    options.session.context.on("response", (response) => {
      if (response.status() < 400 || this.#failed.length > 50) return;
      this.#failed.push(`${response.request().method()} ${response.url()}: status ${response.status()}`);
    });
  }

  /** All pages, in the order they were opened. */
  tabs(): Page[] {
    return this.#options.session.context.pages();
  }

  /**
   * Waits for a page that an action opened and that the browser tells of late, as on a busy machine, and takes it into use.
   * Only asked for where nothing else is to be seen of the action.
   */
  async followLateTab(before: readonly Page[]): Promise<boolean> {
    const { context } = this.#options.session;
    const find = (): Page | undefined => this.tabs().find((page) => !before.includes(page));
    if (find() === undefined) await context.waitForEvent("page", { timeout: LATE_TAB_MS }).catch(() => undefined);
    const opened = find();
    if (opened === undefined) return false;
    await settledWithin(opened.waitForLoadState(), SETTLE_LIMIT_MS);
    this.page = opened;
    return true;
  }

  /** A page or address without the app's origin. */
  local(text: string): string {
    return text.replaceAll(this.#options.origin(), "");
  }

  /** Waits until two looks in a row are the same, within a limit; then looks. `step` names the picture. */
  async look(step: number): Promise<Look> {
    if (this.page.isClosed()) this.page = this.tabs().at(-1) ?? this.page;
    let read = await readPage(this.page);
    const until = performance.now() + SETTLE_LIMIT_MS;
    while (performance.now() < until) {
      await delay(SETTLE_EVERY_MS, undefined, { signal: this.#options.signal });
      const again = await readPage(this.page);
      const isSame = JSON.stringify(again.nodes) === JSON.stringify(read.nodes);
      read = again;
      if (isSame) break;
    }
    return this.#describe(read, await this.#picture(step));
  }

  async #describe(read: ReadPage, picture: Pick<Step, "picture" | "pictureHash">): Promise<Look> {
    const { nodes, facts, pseudo, hasCanvas, troubles } = read;
    const { lines, names } = renderView(nodes, {
      height: this.page.viewportSize()?.height ?? 720,
      scrollY: facts.scroll.y,
      unseen: new Set(facts.unseen),
      labels: new Set(facts.labels),
      typed: this.typed,
      maxChars: MAX_VIEW_CHARS,
    });
    let title = "";
    await settledWithin(
      this.page.title().then((text) => (title = text)),
      1000,
    );
    const view = [...lines, ...pseudo.map(({ ref, line }) => `[${ref}] ${escapePageText(cut(line, 400))}`)];
    const seen = {
      path: escapePageText(cut(this.local(this.page.url()), 300)),
      title: escapePageText(cut(title, 200)),
      view,
      state: [...this.#stateLines(facts), ...troubles.map((text) => escapePageText(text))],
      events: this.#newEvents(),
      hasCanvas,
      ...picture,
    };
    const allNames = new Map([
      ...names,
      ...pseudo.map(({ ref, name }) => [ref, escapePageText(cut(name, 100))] as const),
    ]);
    return { seen, names: allNames, pseudo: new Map(pseudo.map((one) => [one.ref, one])), facts };
  }

  #stateLines({ scroll, scrollers, focus }: ReadPage["facts"]): string[] {
    const lines: string[] = [];
    const tabs = this.tabs();
    if (tabs.length > 1) {
      const list = tabs.map(
        (tab, index) => `${index + 1}${tab === this.page ? " (in use)" : ""} ${this.local(tab.url())}`,
      );
      lines.push(`tabs: ${escapePageText(cut(list.join(", "), 400))}`);
    }
    if (scroll.maxY > 0) lines.push(`scrolled ${scroll.y} of ${scroll.maxY} pixels`);
    for (const scroller of scrollers) lines.push(`scrolls: ${escapePageText(scroller)}`);
    if (focus !== "") lines.push(`focus: ${escapePageText(focus)}`);
    return lines;
  }

  #newEvents(): StepEvent[] {
    const { notes } = this.#options.session;
    const events = notes.slice(this.#notesSeen).flatMap(({ kind, text }): StepEvent[] => {
      const known = KINDS[kind];
      return known === undefined ? [] : [{ kind: known, text: this.#eventText(text) }];
    });
    this.#notesSeen = notes.length;
    const failed = this.#failed.splice(0).map((text): StepEvent => ({ kind: "network", text: this.#eventText(text) }));
    return [...events, ...failed].slice(0, MAX_EVENTS);
  }

  #eventText(text: string): string {
    return escapePageText(cut(this.local(text), 300));
  }

  async #picture(step: number): Promise<Pick<Step, "picture" | "pictureHash">> {
    const { session, evidenceDir } = this.#options;
    const file = `step-${String(step).padStart(2, "0")}.webp`;
    if (!(await session.screenshot(file, PICTURE_LIMIT_MS))) return { picture: null, pictureHash: null };
    const hash = createHash("sha256")
      .update(await readFile(join(evidenceDir, file)))
      .digest("hex");
    if (this.#last?.hash !== hash) this.#last = { file, hash };
    return { picture: this.#last.file, pictureHash: hash };
  }
}
