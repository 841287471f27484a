import { setTimeout as delay } from "node:timers/promises";
import type { Locator, Page } from "playwright";
import { exactly, firstLine, inRow, isValue, literal, visible } from "./match.ts";
import { pickTable, readTables, readText, type Entry } from "./read-page.ts";

/** What an oracle says about one point of a check. */
export interface Point {
  readonly point: string;
  readonly met: boolean;
  readonly saw: string;
}

/** The app as the judge hands it over. */
export interface App {
  readonly page: Page;
  readonly url: string;
  readonly restart: () => Promise<string>;
}

const waitLimitMs = 3000;
const wasteLimitMs = 6000;
// Enough for a step that works, so that what an app does right does not depend on how much it did wrong before.
const leastWaitMs = 600;
const pollMs = 25;

/** A step that the app offers no way to do; the check ends there with this point not met. */
export class Stuck extends Error {}

/** One visit of a user to the app: what was done, and the points seen so far. */
export class Visit {
  readonly points: Point[] = [];
  readonly dialogs: string[] = [];
  page: Page;
  #url: string;
  readonly #restart: () => Promise<string>;
  #wastedMs = 0;

  constructor({ page, url, restart }: App) {
    this.page = page;
    this.#url = url;
    this.#restart = restart;
    // A message may come as a dialog; a user reads it and says yes.
    page.on("dialog", (dialog) => {
      this.dialogs.push(dialog.message());
      dialog.accept().catch(() => {
        // Somebody else answered it first.
      });
    });
  }

  /** Time that one wait may take; less once much time was spent on waits that came to nothing. */
  get patienceMs(): number {
    return Math.max(leastWaitMs, Math.min(waitLimitMs, wasteLimitMs - this.#wastedMs));
  }

  /** Loads the app anew, as after typing its address; a hash in the address does not keep the old page alive. */
  async enter(): Promise<void> {
    await this.page.goto("about:blank");
    await this.#step("the app opens", () => this.page.goto(this.#url, { timeout: 2 * this.patienceMs }));
  }

  async restart(): Promise<void> {
    this.#url = await this.#restart();
    await this.enter();
  }

  /** Follows one of the links at the top. */
  async open(name: string | RegExp): Promise<void> {
    const label = typeof name === "string" ? exactly(name) : name;
    const link = this.page
      .getByRole("link", { name: label })
      .or(this.page.getByRole("tab", { name: label }))
      .or(this.page.getByRole("button", { name: label }));
    await this.#step(`the link ${String(name)} leads somewhere`, async () => {
      await visible(link).click({ timeout: this.patienceMs });
      await visible(this.page.getByRole("heading", { name: label })).waitFor({ timeout: this.patienceMs });
    });
  }

  /** Presses a button, or a link that looks like one, inside `area` (the page when absent). */
  async press(name: string | RegExp, area?: Locator): Promise<void> {
    const button = this.control(name, area);
    await this.#step(`${String(name)} can be pressed`, () => button.click({ timeout: this.patienceMs }));
  }

  /** Presses a button whose effect cannot be seen on the spot, and waits until the server has answered. */
  async send(name: string): Promise<void> {
    const answered = this.page
      .waitForResponse((response) => response.request().method() !== "GET", { timeout: this.patienceMs })
      .catch(() => undefined);
    await this.press(name);
    await answered;
  }

  control(name: string | RegExp, area?: Locator): Locator {
    const place = area ?? this.page;
    const label = typeof name === "string" ? exactly(name) : name;
    return visible(place.getByRole("button", { name: label }).or(place.getByRole("link", { name: label })));
  }

  /** Presses a button in the row (or card) that shows this text. */
  async pressInRow(name: string, rowText: string): Promise<void> {
    // Inside a row the button may name the row as well, such as "Return Cordless drill".
    await this.press(inRow(name), this.row(rowText));
  }

  /** The topmost row with this text. */
  row(rowText: string): Locator {
    return visible(this.page.locator("tr, [role=row]").filter({ hasText: rowText }));
  }

  field(label: string): Locator {
    const name = new RegExp(String.raw`^\W*${label}\b`, "i");
    const byRole = (["textbox", "searchbox", "spinbutton", "combobox", "listbox"] as const).map((role) =>
      this.page.getByRole(role, { name }),
    );
    // Date and password fields have no role. A list inside its label has its options in the label's text, but not in its name.
    const byLabel = this.page.getByLabel(name).and(this.page.locator("input:not([type=hidden])"));
    return visible(byRole.reduce((all, one) => all.or(one), byLabel));
  }

  async fill(label: string, text: string): Promise<void> {
    await this.#step(`the field ${label} takes "${text}"`, () =>
      this.field(label).fill(text, { timeout: this.patienceMs }),
    );
  }

  /** Chooses from a drop-down list, native or made of options. */
  async choose(label: string, option: string): Promise<void> {
    const list = this.field(label);
    const words = new RegExp(String.raw`\b${option}\b`, "i");
    await this.#step(`${label} offers "${option}"`, async () => {
      await list.waitFor({ timeout: this.patienceMs });
      if ((await list.evaluate((element) => element.tagName)) !== "SELECT") {
        await list.click({ timeout: this.patienceMs });
        return visible(this.page.getByRole("option", { name: words })).click({ timeout: this.patienceMs });
      }
      const offered = list.locator("option").filter({ hasText: words }).first();
      await offered.waitFor({ state: "attached", timeout: this.patienceMs });
      const index = await offered.evaluate((element) => (element as HTMLOptionElement).index);
      return list.selectOption({ index }, { timeout: this.patienceMs });
    });
  }

  /** Gives a file to a file field, which may be hidden behind a button of its own. */
  async attach(label: string, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    const labelled = this.page.getByLabel(new RegExp(literal(label), "i")).and(this.page.locator("input[type=file]"));
    const field = (await labelled.count()) > 0 ? labelled : this.page.locator("input[type=file]");
    await this.#step(`the field ${label} takes a file`, () =>
      field.first().setInputFiles(file, { timeout: this.patienceMs }),
    );
  }

  /** Adds a point: `read` is repeated until it is right or the patience is over; what was read last is kept. */
  async see<T>(point: string, read: () => Promise<T>, isRight: (seen: T) => boolean): Promise<boolean> {
    const { met, saw } = await this.#poll(read, isRight);
    return this.#add(point, met, saw);
  }

  /** Waits for something that a later step rests on; when it never comes, the points will say what is wrong. */
  async settle(isDone: () => Promise<unknown>): Promise<void> {
    await this.#poll(isDone, Boolean);
  }

  async #poll<T>(read: () => Promise<T>, isRight: (seen: T) => boolean): Promise<{ met: boolean; saw: string }> {
    const startedAt = Date.now();
    const endsAt = startedAt + this.patienceMs;
    let saw = "";
    for (;;) {
      try {
        const seen = await read();
        saw = typeof seen === "string" ? seen : (JSON.stringify(seen) ?? "nothing");
        if (isRight(seen)) return { met: true, saw };
      } catch (error) {
        // A page that is just being replaced cannot be read; the next one can.
        saw = firstLine(error);
      }
      if (Date.now() >= endsAt) {
        this.#wastedMs += Date.now() - startedAt;
        return { met: false, saw };
      }
      await delay(pollMs);
    }
  }

  /** The page, or a dialog it opened, shows this text. */
  seeText(point: string, text: string | RegExp): Promise<boolean> {
    const wanted = text instanceof RegExp ? text : new RegExp(literal(text), "i");
    return this.see(
      point,
      () => this.text(),
      (seen) => wanted.test(seen),
    );
  }

  async text(): Promise<string> {
    return [...this.dialogs, await readText(this.page)].join("\n");
  }

  /** The first entry of the table with these columns whose cells include the key; undefined without one. */
  async entry(columns: readonly string[], key: string): Promise<Entry | undefined> {
    const entries = await this.entries(columns);
    const has = (entry: Entry, test: (cell: string) => boolean): boolean => Object.values(entry).some(test);
    const words = key.toLowerCase();
    return (
      entries?.find((entry) => has(entry, (cell) => cell.toLowerCase() === words)) ??
      entries?.find((entry) => has(entry, (cell) => cell.toLowerCase().includes(words)))
    );
  }

  /** The visible entries of the table with these columns; undefined when no such table is visible. */
  async entries(columns: readonly string[]): Promise<readonly Entry[] | undefined> {
    return pickTable(await readTables(this.page), columns);
  }

  /** One entry of a table has these values. */
  seeEntry(point: string, [columns, key]: readonly [readonly string[], string], values: Entry): Promise<boolean> {
    return this.see(
      point,
      () => this.entry(columns, key),
      (entry) =>
        entry !== undefined && Object.entries(values).every(([column, value]) => isValue(entry[column] ?? "", value)),
    );
  }

  /** A table is there, has an entry for `anchor` and none for `key`. */
  seeNoEntry(
    point: string,
    columns: readonly string[],
    { key, anchor }: { key: string; anchor: string },
  ): Promise<boolean> {
    return this.see(
      point,
      async () => ({ anchor: await this.entry(columns, anchor), unwanted: await this.entry(columns, key) }),
      (seen) => seen.anchor !== undefined && seen.unwanted === undefined,
    );
  }

  async #step(what: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#add(what, false, firstLine(error));
      throw new Stuck(what);
    }
  }

  #add(point: string, met: boolean, saw: string): boolean {
    this.points.push({ point, met, saw: saw.slice(0, 400) });
    return met;
  }
}
