import type { BrowserSession, SessionTarget } from "./browser-session.ts";
import { startBrowser, type BrowserProcess, type Protection } from "./browser-process.ts";
import type { Chromium } from "./chromium.ts";
import { openSession, type SessionOptions } from "./open-session.ts";

/** How a pool is run. */
export interface BrowserPoolOptions {
  readonly chromium: Chromium;
  /** After this many contexts a new browser takes over; default 200. */
  readonly maxContextsPerBrowser?: number;
  /** Limit of one start of the browser; default 30000. */
  readonly launchTimeoutMs?: number;
}

/** What ran, for run.json. */
export interface BrowserInfo {
  readonly product: "Chromium";
  readonly version: string;
  readonly kind: Chromium["kind"];
  readonly executablePath: string;
  /** What protected the host from the browser and its pages, as a sentence. */
  readonly protection: string;
}

/** One browser for many checks, replaced when it is worn out or gone. Disposing leaves no process and no folder. */
export interface BrowserPool extends AsyncDisposable {
  readonly info: BrowserInfo;
  /** Process group of the browser that new sessions open in. */
  readonly processGroup: number;
  /** Opens a fresh context. Throws `EvowebError("browser")` when no browser can be started. */
  openSession(target: SessionTarget, options: SessionOptions): Promise<BrowserSession>;
  /** Lets the next session open in a new browser; running ones end in peace. */
  recycle(): void;
}

/** One browser with the sessions in it. */
interface Generation {
  readonly process: BrowserProcess;
  opened: number;
  open: number;
  isRetired: boolean;
}

class Pool implements BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #all = new Set<Generation>();
  readonly #closing = new Set<PromiseLike<void>>();
  #starting: Promise<Generation> | undefined;
  #current: Generation | undefined;
  #protection: Protection | undefined;
  #isDisposed = false;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
  }

  get info(): BrowserInfo {
    const { version, kind, executablePath } = this.#options.chromium;
    return {
      product: "Chromium",
      version,
      kind,
      executablePath,
      protection: this.#protection?.sentence ?? "not started",
    };
  }

  get processGroup(): number {
    return this.#current?.process.processGroup ?? 0;
  }

  async start(): Promise<this> {
    await this.#usable();
    return this;
  }

  async openSession(target: SessionTarget, options: SessionOptions): Promise<BrowserSession> {
    const generation = await this.#usable();
    generation.opened += 1;
    generation.open += 1;
    const release = (): void => {
      generation.open -= 1;
      this.#closeIfDone(generation);
    };
    try {
      return await openSession(generation.process.browser, target, {
        ...options,
        // A context that does not close would keep its pages running beside the next checks.
        onStuck: () => this.#retire(generation),
        onClosed: release,
      });
    } catch (error) {
      this.#retire(generation);
      release();
      throw error;
    }
  }

  recycle(): void {
    if (this.#current !== undefined) this.#retire(this.#current);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#starting?.catch(() => undefined);
    for (const generation of this.#all) this.#close(generation);
    await Promise.all(this.#closing);
  }

  async #usable(): Promise<Generation> {
    const current = this.#current;
    if (current !== undefined && !current.isRetired && current.process.browser.isConnected()) {
      if (current.opened < (this.#options.maxContextsPerBrowser ?? 200)) return current;
    }
    if (current !== undefined) this.#retire(current);
    this.#starting ??= this.#launch().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #launch(): Promise<Generation> {
    const timeoutMs = this.#options.launchTimeoutMs ?? 30_000;
    const process = await startBrowser(this.#options.chromium, { timeoutMs, protection: this.#protection });
    this.#protection = process.protection;
    const generation: Generation = { process, opened: 0, open: 0, isRetired: false };
    this.#all.add(generation);
    this.#current = generation;
    if (this.#isDisposed) this.#close(generation);
    return generation;
  }

  #retire(generation: Generation): void {
    generation.isRetired = true;
    this.#closeIfDone(generation);
  }

  #closeIfDone(generation: Generation): void {
    if (generation.isRetired && generation.open === 0) this.#close(generation);
  }

  #close(generation: Generation): void {
    generation.isRetired = true;
    if (!this.#all.delete(generation)) return;
    const closing = generation.process[Symbol.asyncDispose]();
    this.#closing.add(closing);
    void Promise.resolve(closing).finally(() => this.#closing.delete(closing));
  }
}

/** Starts a browser and keeps one going until disposed. Throws `EvowebError("browser")`. */
export async function openBrowserPool(options: BrowserPoolOptions): Promise<BrowserPool> {
  return new Pool(options).start();
}
