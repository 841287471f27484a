import type { BrowserContext, Page, Request } from "playwright";
import { settledWithin } from "../browser-process.ts";
import { PAGE_SCRIPTS } from "./page-scripts.ts";

const QUIET_MS = 300;
const MAX_ROUNDS = 5;
/** Requests that are never over, or that no page waits for. */
const ENDLESS: ReadonlySet<string> = new Set(["eventsource", "websocket", "media", "ping"]);

/** The page did not answer within a limit; whether it is hung is for the caller to find out. */
export class PageTooSlow extends Error {
  override readonly name = "PageTooSlow";
}

/** The result of a browser call; throws `PageTooSlow` after the limit. */
export async function limited<T>(work: Promise<T>, limitMs: number): Promise<T> {
  if (!(await settledWithin(work, limitMs))) throw new PageTooSlow(`no answer within ${limitMs} ms`);
  return work;
}

/** The requests of a session that have no answer yet. */
export class PendingRequests {
  readonly #pending = new Set<Request>();
  readonly #context: BrowserContext;

  constructor(context: BrowserContext) {
    this.#context = context;
    const over = (request: Request): void => void this.#pending.delete(request);
    context.on("request", (request) => {
      if (!ENDLESS.has(request.resourceType())) this.#pending.add(request);
    });
    context.on("requestfinished", over);
    context.on("requestfailed", over);
  }

  /** What is pending now; a request that was on before an action is not waited for after it. */
  now(): ReadonlySet<Request> {
    return new Set(this.#pending);
  }

  /** Waits within the limit until nothing is pending but what was before. */
  async drain(before: ReadonlySet<Request>, limitMs: number): Promise<void> {
    const isDrained = (): boolean => [...this.#pending].every((request) => before.has(request));
    let check = (): void => undefined;
    const drained = new Promise<void>((resolve) => {
      check = (): void => {
        if (isDrained()) resolve();
      };
    });
    this.#context.on("requestfinished", check);
    this.#context.on("requestfailed", check);
    check();
    await settledWithin(drained, limitMs);
    this.#context.off("requestfinished", check);
    this.#context.off("requestfailed", check);
  }

  hasNew(before: ReadonlySet<Request>): boolean {
    return [...this.#pending].some((request) => !before.has(request));
  }
}

/** How long to wait for what an action sets off. */
export interface Settling {
  readonly pending: PendingRequests;
  /** What was pending before the action. */
  readonly before: ReadonlySet<Request>;
  readonly limitMs: number;
  /** True: something has to change first. */
  readonly afterChange: boolean;
}

/** Waits until the page is loaded, its document is quiet and its requests are answered, all within one limit. */
export async function settle(page: Page, { pending, before, limitMs, afterChange }: Settling): Promise<void> {
  const deadline = performance.now() + limitMs;
  const leftMs = (): number => Math.max(1, deadline - performance.now());
  for (let round = 0; round < MAX_ROUNDS && performance.now() < deadline && !page.isClosed(); round += 1) {
    await page.waitForLoadState().catch(() => undefined);
    const options = { quietMs: QUIET_MS, limitMs: leftMs(), afterChange: afterChange && round === 0 };
    const quiet = page.evaluate(PAGE_SCRIPTS.awaitQuiet, options).catch(() => false);
    if (!(await settledWithin(quiet, leftMs() + QUIET_MS))) return;
    // A page that was left meanwhile has to settle anew.
    if ((await quiet) && !pending.hasNew(before)) return;
    await pending.drain(before, leftMs());
  }
}
