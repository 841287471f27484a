import type { Page, Response } from "playwright";
import { navigate, settlePage } from "./open-page.ts";
import { cut } from "./page-notes.ts";

type Call = (...args: unknown[]) => unknown;
type Actor = Readonly<Record<string, unknown>>;

const EVENT_METHODS = new Set(["on", "once", "addListener", "prependListener", "off", "removeListener"]);
// Pages, frames and locators; contexts; element handles; keyboard; mouse. Told by shape: the package exports no classes.
const SHAPES = ["locator", "newPage", "boundingBox", "insertText", "wheel"];

const isActor = (value: unknown): value is Actor =>
  typeof value === "object" && value !== null && SHAPES.some((name) => typeof Reflect.get(value, name) === "function");
const isPage = (actor: Actor): boolean =>
  typeof actor["goto"] === "function" && typeof actor["mainFrame"] === "function";

/** The call's arguments with `waitUntil` replaced; a limit that the judge set stays. */
const withOptions = (args: readonly unknown[], index: number, options: object): unknown[] => {
  const copy = [...args];
  copy[index] = { ...options, ...(args[index] as object | undefined), waitUntil: "commit" };
  return copy;
};
const navigateWith =
  (optionsIndex: number) =>
  async (page: Page, call: Call, args: readonly unknown[]): Promise<unknown> =>
    navigate(page, async (options) => call(...withOptions(args, optionsIndex, options)) as Promise<Response | null>);

/** Ways to open an address, made independent of `load` and of a quiet network, which some pages never reach. */
const OVERRIDES: Readonly<Record<string, (page: Page, call: Call, args: readonly unknown[]) => Promise<unknown>>> = {
  goto: navigateWith(1),
  reload: navigateWith(0),
  goBack: navigateWith(0),
  goForward: navigateWith(0),
  waitForLoadState: async (page) => settlePage(page),
  waitForURL: async (page, call, args) => {
    await call(...withOptions(args, 1, {}));
    await settlePage(page);
  },
};

/** What a person does to a page; a person does it to a page that has come up, not between its first text and its scripts. */
const ACTIONS: ReadonlySet<string> = new Set([
  "check",
  "clear",
  "click",
  "dblclick",
  "dragTo",
  "fill",
  "hover",
  "press",
  "pressSequentially",
  "selectOption",
  "setChecked",
  "setInputFiles",
  "tap",
  "uncheck",
]);

/** Waits for the page's current document to settle, once a document: one that never loads costs its limit one time only. */
class Settling {
  readonly #settled = new WeakMap<Page, Promise<void>>();
  readonly #watched = new WeakSet<Page>();

  of(page: Page): Promise<void> {
    if (!this.#watched.has(page)) {
      this.#watched.add(page);
      page.on("framenavigated", (frame) => {
        if (frame === page.mainFrame()) this.#settled.delete(page);
      });
    }
    const settled = this.#settled.get(page) ?? settlePage(page);
    this.#settled.set(page, settled);
    return settled;
  }
}

function createStopwatch(): { start(): () => void; elapsedMs(): number } {
  let going = 0;
  let since = 0;
  let totalMs = 0;
  return {
    start() {
      if (going === 0) since = performance.now();
      going += 1;
      let stopped = false;
      return () => {
        if (stopped) return;
        stopped = true;
        going -= 1;
        if (going === 0) totalMs += performance.now() - since;
      };
    },
    elapsedMs: () => totalMs + (going > 0 ? performance.now() - since : 0),
  };
}

/** What is known of a wrapped object. */
interface Wrapped {
  readonly actor: Actor;
  /** How the judge got it, such as `getByRole("button", {name: "Save"})`. */
  readonly name: string;
}

/** A call about to be made. */
interface Performed {
  readonly actor: Actor;
  readonly method: string;
  readonly call: Call;
  readonly override: (typeof OVERRIDES)[string] | undefined;
}

function describe(value: unknown, known: WeakMap<object, Wrapped>): string {
  if (typeof value === "function") return "fn";
  if (value instanceof RegExp) return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const wrapped = known.get(value);
  if (wrapped !== undefined) return wrapped.name;
  if (Array.isArray(value)) return `[${value.map((part) => describe(part, known)).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, part]) => `${key}: ${describe(part, known)}`)
    .join(", ")}}`;
}

/** The given arguments with Playwright's own objects in place of ours. */
function unwrap(value: unknown, known: WeakMap<object, Wrapped>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const wrapped = known.get(value);
  if (wrapped !== undefined) return wrapped.actor;
  if (Array.isArray(value)) return value.map((part) => unwrap(part, known));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unwrap(part, known)]));
}

function pageOf(actor: Actor): Page | undefined {
  if (isPage(actor)) return actor as unknown as Page;
  return typeof actor["page"] === "function" ? (Reflect.apply(actor["page"] as Call, actor, []) as Page) : undefined;
}

/** Wraps Playwright's objects so that each call on them is told, without changing what the calls do (but see `OVERRIDES`). */
export class StepRecorder {
  /** The page that was used last; undefined before the first call. */
  lastPage: Page | undefined;
  readonly #tell: (call: string, outcome: string) => void;
  readonly #proxies = new WeakMap<object, unknown>();
  readonly #known = new WeakMap<object, Wrapped>();
  readonly #handlers = new WeakMap<object, Call>();
  readonly #stopwatch = createStopwatch();
  readonly #settling = new Settling();

  /** `tell` gets each finished call, such as `getByRole("button", {name: "Save"}).click()`, and how it went, such as `34 ms`. */
  constructor(tell: (call: string, outcome: string) => void) {
    this.#tell = tell;
  }

  /** `value` itself, or what stands for it when it is one of Playwright's objects (or a list of them). */
  wrap<T>(value: T, name: string): T {
    if (Array.isArray(value)) return value.map((part: unknown, index) => this.wrap(part, `${name}[${index}]`)) as T;
    return isActor(value) ? (this.#wrapActor(value, name) as T) : value;
  }

  /** Milliseconds in which at least one call was going on. */
  browserMs(): number {
    return Math.round(this.#stopwatch.elapsedMs());
  }

  #wrapActor(actor: Actor, name: string): unknown {
    const made = this.#proxies.get(actor);
    if (made !== undefined) return made;
    const proxy: object = new Proxy(actor, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof key !== "string" || key.startsWith("_")) return value;
        return typeof value === "function" ? this.#wrapCall({ actor, name }, key) : this.wrap(value, `${name}.${key}`);
      },
    });
    this.#proxies.set(actor, proxy);
    this.#known.set(proxy, { actor, name });
    return proxy;
  }

  #wrapCall({ actor, name }: Wrapped, method: string): Call {
    const original = (...args: unknown[]): unknown => Reflect.apply(actor[method] as Call, actor, args);
    const override = isPage(actor) ? OVERRIDES[method] : undefined;
    const prefix = isPage(actor) && name === "page" ? "" : `${name}.`;
    return (...args) => {
      const given = args.map((arg) => this.#argument(method, arg));
      const called = cut(`${prefix}${method}(${args.map((arg) => describe(arg, this.#known)).join(", ")})`, 300);
      const result = this.#perform({ actor, method, call: original, override }, given);
      if (!(result instanceof Promise)) return this.wrap(result, called);
      this.lastPage = pageOf(actor) ?? this.lastPage;
      return this.#timed(called, result);
    };
  }

  #perform({ actor, method, call, override }: Performed, given: readonly unknown[]): unknown {
    const page = pageOf(actor);
    if (page !== undefined && override !== undefined) return override(page, call, given);
    if (page === undefined || !ACTIONS.has(method)) return call(...given);
    return this.#settling.of(page).then(() => call(...given));
  }

  #argument(method: string, arg: unknown): unknown {
    if (!EVENT_METHODS.has(method) || typeof arg !== "function") return unwrap(arg, this.#known);
    const handler = arg as Call;
    const made = this.#handlers.get(handler) ?? ((...args) => handler(...args.map((part) => this.wrap(part, "page"))));
    this.#handlers.set(handler, made);
    return made;
  }

  async #timed(name: string, work: Promise<unknown>): Promise<unknown> {
    const startedAt = performance.now();
    const stop = this.#stopwatch.start();
    const took = (): string => `${Math.round(performance.now() - startedAt)} ms`;
    try {
      const value = await work;
      this.#tell(name, took());
      return this.wrap(value, name);
    } catch (error) {
      this.#tell(name, `${took()}: ${error instanceof Error ? error.name : "failed"}`);
      throw error;
    } finally {
      stop();
    }
  }
}
