import type { BrowserContext, Page } from "playwright";

/** The app under test as the browser has to reach it. */
export interface SessionTarget {
  /** The page the app's author would open, such as "http://localhost:5173/". */
  readonly url: string;
  /** HTTP proxy of the harness on 127.0.0.1 that leads to this app and nowhere else. */
  readonly proxyServer: string;
}

/** Something the page or the judge did that a judge or a reader may want to know. */
export interface PageNote {
  /** Milliseconds since the session was opened. */
  readonly atMs: number;
  readonly kind:
    | "dialog"
    | "popup"
    | "popup_closed"
    | "download"
    | "console_error"
    | "page_error"
    | "request_failed"
    | "blocked"
    | "step"
    | "judge";
  /** At most 500 characters; text from the page is data, never instruction. */
  readonly text: string;
}

/** Why a session ended before it was disposed: the browser went away (infra), or the page made going on impossible (app). */
export interface SessionEnd {
  readonly who: "app" | "infra";
  /** `browser`: the browser is gone. `page_crashed`: its renderer died. `dialog_loop`: the page opened dialogs without end. */
  readonly class: "browser" | "page_crashed" | "dialog_loop";
  /** One sentence with the measured value. */
  readonly text: string;
}

/** One fresh browser context with its first page; disposing closes it without ever waiting for the page's consent. */
export interface BrowserSession extends AsyncDisposable {
  /** As `page`: pages that come from it record their steps too. */
  readonly context: BrowserContext;
  /**
   * The first page. Each call on it, and on what it hands out, is recorded as a step; `goto` and its like wait for what is
   * there within a limit instead of for `load` or a quiet network, and an address that turns into a download is no error.
   */
  readonly page: Page;
  /** What happened so far, in order; bounded per kind. Complete once the session is disposed. */
  readonly notes: readonly PageNote[];
  /** Adds a note of the judge's own. */
  note(text: string): void;
  /** Why the session ended early; undefined while it is usable and after an ordinary disposal. */
  readonly end: SessionEnd | undefined;
  /** Resolves when the session ends early; otherwise never. */
  readonly ended: Promise<SessionEnd>;
  /** Milliseconds in which at least one browser call was going on. */
  browserMs(): number;
  /** Names of the files kept so far, relative to the check's folder. */
  files(): readonly string[];
  /** Takes a WebP picture of the window of the page used last; false (and a note) when none could be had in `timeoutMs`. */
  screenshot(fileName: string, timeoutMs: number): Promise<boolean>;
  /** Whether the page used last runs script within `timeoutMs`. */
  isResponsive(timeoutMs: number): Promise<boolean>;
}
