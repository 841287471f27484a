import { setTimeout as delay } from "node:timers/promises";
import type { Locator, Page } from "playwright";

/** One statement about the app, and what was seen. */
export interface Point {
  readonly point: string;
  readonly met: boolean;
  readonly saw: string;
}

/** What an oracle is given. */
export interface App {
  readonly page: Page;
  readonly url: string;
  /** Restarts the server on the same data; resolves with the address. */
  restart(): Promise<string>;
}

/** Longest wait for one thing, and for a whole check: a broken app must not hold up the others. */
const stepLimitMs = 2500;
const checkLimitMs = 9000;
/** What a step gets when the check's time is used up: what is there must still be seen. */
const lastLimitMs = 500;
const pollMs = 20;

/** The check cannot go on: what it needed was not there. */
class Stuck extends Error {}

/** Text as a reader compares it: case, kinds of space and of minus do not matter. */
export function plain(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/[\u2212\u2010\u2011]/g, "-")
    .replaceAll(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** A name as a label or a button may carry it: alone, or with a colon or an asterisk. */
export function named(name: string): RegExp {
  return new RegExp(`^\\s*${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*[:*]?\\s*$`, "i");
}

/** Somebody who uses the app with eyes, mouse and keyboard, and writes down which points hold. */
export class Visitor {
  readonly points: Point[] = [];
  readonly page: Page;
  readonly #app: App;
  readonly #endsAt = performance.now() + checkLimitMs;

  constructor(app: App) {
    this.#app = app;
    this.page = app.page;
  }

  /** Time left for the next wait. */
  get #limitMs(): number {
    return Math.max(lastLimitMs, Math.min(stepLimitMs, this.#endsAt - performance.now()));
  }

  /** Runs a check; what goes wrong in it is a point that is not met, never an exception. */
  async run(check: (visitor: Visitor) => Promise<void>): Promise<Point[]> {
    try {
      await this.do("the app opens", () => this.#goto(this.#app.url));
      await check(this);
    } catch (error) {
      if (!(error instanceof Stuck)) this.#note("the check can be carried out", false, describe(error));
    }
    return this.points;
  }

  /** Waits until what is read fits; writes down whether it did. */
  async sees<T>(point: string, read: () => Promise<T>, fits: (seen: T) => boolean): Promise<void> {
    const endsAt = performance.now() + this.#limitMs;
    let seen: T | undefined;
    let trouble = "";
    do {
      try {
        seen = await read();
        trouble = "";
        if (fits(seen)) {
          this.#note(point, true, show(seen));
          return;
        }
      } catch (error) {
        trouble = describe(error);
      }
      await delay(pollMs);
    } while (performance.now() < endsAt);
    this.#note(point, false, trouble || show(seen));
  }

  /** All phrases are readable somewhere on the page. */
  async reads(point: string, ...phrases: string[]): Promise<void> {
    await this.sees(
      point,
      () => this.text(),
      (text) => phrases.every((phrase) => text.includes(plain(phrase))),
    );
  }

  /** None of the phrases is readable on the page. */
  async misses(point: string, ...phrases: string[]): Promise<void> {
    await this.sees(
      point,
      () => this.text(),
      (text) => text !== "" && phrases.every((phrase) => !text.includes(plain(phrase))),
    );
  }

  /** What can be read on the page, in plain form. */
  async text(): Promise<string> {
    const [text = ""] = await this.page.locator("body").allInnerTexts();
    return plain(text);
  }

  /** Does a step without which the check makes no sense; stops the check when it cannot be done. */
  async do(step: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#note(step, false, describe(error));
      throw new Stuck(step, { cause: error });
    }
  }

  async reload(): Promise<void> {
    await this.do("the page can be reloaded", () => this.page.reload({ timeout: this.#limitMs }));
  }

  async restart(): Promise<void> {
    await this.do("the app opens after a restart", async () => this.#goto(await this.#app.restart()));
  }

  async open(address: string): Promise<void> {
    await this.do(`${address} opens`, () => this.#goto(address));
  }

  /** Follows a link by its name. */
  async follow(name: string): Promise<void> {
    const { page } = this;
    const link = page.getByRole("link", { name: named(name) }).or(page.getByRole("button", { name: named(name) }));
    await this.do(`there is a link "${name}"`, () => this.#click(link));
  }

  /** Presses a button by its name, on the page or inside something. */
  async press(name: string, inside: Page | Locator = this.page): Promise<void> {
    await this.do(`there is a button "${name}"`, () => this.#click(inside.getByRole("button", { name: named(name) })));
  }

  /** The visible field with this label. */
  field(label: string): Locator {
    const { page } = this;
    const name = named(label);
    return page
      .getByRole("textbox", { name })
      .or(page.getByRole("combobox", { name }))
      .or(page.getByRole("spinbutton", { name }))
      .or(page.getByRole("searchbox", { name }))
      .or(page.getByLabel(name))
      .filter({ visible: true })
      .first();
  }

  async fill(label: string, value: string): Promise<void> {
    await this.do(`"${label}" can be filled in`, () => this.field(label).fill(value, { timeout: this.#limitMs }));
  }

  /** Chooses an option of a drop-down by what it says. */
  async choose(label: string, option: string): Promise<void> {
    await this.do(`"${label}" offers ${option}`, async () => {
      const field = this.field(label);
      const timeout = this.#limitMs;
      const tag = await field.evaluate((element) => element.tagName, undefined, { timeout });
      if (tag === "SELECT") {
        await field.selectOption({ label: option }, { timeout });
        return;
      }
      await field.click({ timeout });
      await this.page.getByRole("option", { name: named(option) }).click({ timeout });
    });
  }

  /** What a drop-down shows as chosen. */
  async chosen(label: string): Promise<string> {
    return this.field(label).evaluate(
      (element) =>
        element instanceof HTMLSelectElement ? (element.selectedOptions[0]?.text ?? "") : (element.textContent ?? ""),
      undefined,
      { timeout: this.#limitMs },
    );
  }

  /** Hands a text file to the file field. */
  async chooseFile(name: string, text: string): Promise<void> {
    const field = this.page.getByLabel(/^\s*CSV file/i).or(this.page.locator("input[type=file]"));
    const file = { name, mimeType: "text/csv", buffer: Buffer.from(text) };
    await this.do('there is a file field "CSV file"', () =>
      field.first().setInputFiles(file, { timeout: this.#limitMs }),
    );
  }

  /** Presses a button that downloads a file. */
  async download(name: string): Promise<{ name: string; lines: string[] }> {
    let result = { name: "", lines: [""] };
    await this.do(`"${name}" downloads a file`, async () => {
      const [download] = await Promise.all([
        this.page.waitForEvent("download", { timeout: this.#limitMs }),
        this.press(name),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk as Uint8Array));
      const text = Buffer.concat(chunks)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
      result = { name: download.suggestedFilename(), lines: text.split(/\r?\n/).filter((line) => line !== "") };
    });
    return result;
  }

  async #goto(address: string): Promise<void> {
    await this.page.goto(address, {
      waitUntil: "domcontentloaded",
      timeout: Math.max(1, this.#endsAt - performance.now()),
    });
  }

  async #click(target: Locator): Promise<void> {
    await target.filter({ visible: true }).first().click({ timeout: this.#limitMs });
  }

  #note(point: string, met: boolean, saw: string): void {
    this.points.push({ point, met, saw: saw.slice(0, 500) });
  }
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // Playwright colours its messages.
  return text.replaceAll(new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, "g"), "");
}

function show(seen: unknown): string {
  return typeof seen === "string" ? seen : (JSON.stringify(seen) ?? "nothing");
}
