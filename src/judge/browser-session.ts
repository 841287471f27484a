import type { BrowserContext, Page } from "playwright";

/** The app under test as the browser has to reach it. */
export interface SessionTarget {
  /** The page the app's author would open, such as "http://localhost:5173/". */
  readonly url: string;
  /** HTTP proxy of the harness on 127.0.0.1 that leads to this app and nowhere else. */
  readonly proxyServer: string;
}

/** Something the page did that a judge or a reader may want to know. */
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
    | "step";
  readonly text: string;
}

/** One fresh browser context with its first page; disposing closes it without ever waiting for the page's consent. */
export interface BrowserSession extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly notes: readonly PageNote[];
  /** Milliseconds spent inside browser calls so far. */
  browserMs(): number;
}
