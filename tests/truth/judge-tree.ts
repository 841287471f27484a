import pLimit from "p-limit";
import { chromium, type Browser, type Page } from "playwright";
import type { FileTree } from "../../src/dataset/file-tree.ts";
import { hashTree } from "./ground-truth.ts";
import { TreeServer } from "./serve-tree.ts";

/** What an oracle says about one point of a check. */
interface Point {
  readonly point: string;
  readonly met: boolean;
  readonly saw: string;
}

/** A check decided on a tree. */
export interface Ruling {
  readonly verdict: "YES" | "PARTIAL" | "NO";
  readonly points: readonly Point[];
  /** Time in the oracle, without the app's first start. */
  readonly oracleMs: number;
}

/** Which check to decide, and on what. */
export interface Question {
  readonly rowId: string;
  /** The row's oracle module. */
  readonly oraclePath: string;
  readonly tree: FileTree;
  /** 1-based. */
  readonly request: number;
  /** 0-based. */
  readonly check: number;
}

interface Oracle {
  check(
    request: number,
    index: number,
    app: { page: Page; url: string; restart: () => Promise<string> },
  ): Promise<Point[]>;
}

/** Decides checks with the oracles: identical trees are asked once, each check on a fresh copy and in a fresh context. */
export class TreeJudge implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #server: TreeServer;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #rulings = new Map<string, Promise<Ruling>>();
  readonly #oracles = new Map<string, Promise<Oracle>>();

  private constructor(browser: Browser, server: TreeServer, atATime: number) {
    this.#browser = browser;
    this.#server = server;
    this.#limit = pLimit(atATime);
  }

  /** @param executablePath a Chromium or headless shell. */
  static async open(executablePath: string, atATime: number): Promise<TreeJudge> {
    const server = await TreeServer.open();
    // The apps here are our own; the runner, which serves anybody's, keeps the browser's sandbox on.
    const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
    return new TreeJudge(browser, server, atATime);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.#server[Symbol.asyncDispose]();
  }

  /** How many checks were really decided so far. */
  get decided(): number {
    return this.#rulings.size;
  }

  decide(question: Question): Promise<Ruling> {
    const key = [hashTree(question.tree), question.rowId, question.request, question.check].join(" ");
    const found = this.#rulings.get(key) ?? this.#limit(() => this.#decide(question));
    this.#rulings.set(key, found);
    return found;
  }

  async #decide({ oraclePath, tree, request, check }: Question): Promise<Ruling> {
    const oracle = await this.#oracle(oraclePath);
    await using app = await this.#server.serve(tree);
    if (app.url === undefined) {
      const saw = app.log.slice(-300).trim();
      return { verdict: "NO", points: [{ point: "the app starts", met: false, saw }], oracleMs: 0 };
    }
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 720 },
      deviceScaleFactor: 1,
      locale: "en-US",
      timezoneId: "UTC",
      reducedMotion: "reduce",
    });
    try {
      const page = await context.newPage();
      const startedAt = performance.now();
      const points = await oracle.check(request, check, { page, url: app.url, restart: () => app.restart() });
      return { verdict: verdictOf(points), points, oracleMs: performance.now() - startedAt };
    } finally {
      await context.close();
    }
  }

  #oracle(file: string): Promise<Oracle> {
    const found = this.#oracles.get(file) ?? (import(/* @vite-ignore */ file) as Promise<Oracle>);
    this.#oracles.set(file, found);
    return found;
  }
}

function verdictOf(points: readonly Point[]): Ruling["verdict"] {
  const metCount = points.filter((one) => one.met).length;
  if (points.length > 0 && metCount === points.length) return "YES";
  return metCount === 0 ? "NO" : "PARTIAL";
}
