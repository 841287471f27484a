import type { Locator, Page } from "playwright";

/** A row of a table: what its cells show, by lower-case column heading. */
export type Entry = Readonly<Record<string, string>>;

interface RawTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** All text that is visible. */
export async function readText(page: Page): Promise<string> {
  return (await page.locator("body").innerText()).replaceAll(/[^\S\n]+/g, " ");
}

/** Every visible table with its visible rows; cells that are not shown are empty. */
export function readTables(page: Page): Promise<RawTable[]> {
  return page.evaluate(() => {
    // Methods, since a compiler that keeps the names of functions calls something that the page does not have.
    const dom = {
      isShown(element: Element): boolean {
        return (
          element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
          element.getBoundingClientRect().width > 0
        );
      },
      textOf(element: Element): string {
        return dom.isShown(element) ? (element as HTMLElement).innerText.replaceAll(/\s+/g, " ").trim() : "";
      },
      all(root: Element | Document, selector: string): Element[] {
        return [...root.querySelectorAll(selector)];
      },
    };
    return dom
      .all(document, "table, [role=table], [role=grid]")
      .filter((table) => dom.isShown(table))
      .map((table) => {
        const heads = dom.all(table, "thead th, thead td, [role=columnheader]");
        const top = heads.length > 0 ? heads : dom.all(table, "tr:first-of-type th");
        // Headings may be hidden on a narrow screen and still name the columns.
        const columns = top.map((cell) =>
          cell.textContent
            .toLowerCase()
            .replaceAll(/[^a-z ]+/g, " ")
            .trim(),
        );
        const rows = dom
          .all(table, "tr, [role=row]")
          .filter((row) => dom.isShown(row) && !top.some((head) => row.contains(head)))
          .map((row) =>
            dom.all(row, "td, th, [role=cell], [role=gridcell], [role=rowheader]").map((cell) => dom.textOf(cell)),
          );
        return { columns, rows };
      });
  });
}

/** The entries of the first table that has all these columns. */
export function pickTable(tables: readonly RawTable[], columns: readonly string[]): readonly Entry[] | undefined {
  const table = tables.find((one) => columns.every((column) => one.columns.includes(column)));
  return table?.rows
    .filter((cells) => cells.length > 1)
    .map((cells) => Object.fromEntries(cells.map((cell, at) => [table.columns[at] ?? `column ${String(at)}`, cell])));
}

/** Colours in use at an element, as `rgb(...)`: its text and the nearest background behind it. */
export function readColours(locator: Locator): Promise<{ text: string; background: string }> {
  return locator.evaluate(
    (element) => {
      let behind: Element | null = element;
      while (behind !== null && /^transparent|^rgba.*, 0\)$/.test(getComputedStyle(behind).backgroundColor)) {
        behind = behind.parentElement;
      }
      return {
        text: getComputedStyle(element).color,
        background: behind === null ? "none" : getComputedStyle(behind).backgroundColor,
      };
    },
    undefined,
    { timeout: 500 },
  );
}

/** The background behind everything, at the lower corners of the window. */
export function readPageColours(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [4, innerWidth - 4].map((x) => {
      const clear = /^transparent|^rgba.*, 0\)$/;
      let behind = document.elementFromPoint(x, innerHeight - 4) ?? document.documentElement;
      while (behind.parentElement !== null && clear.test(getComputedStyle(behind).backgroundColor)) {
        behind = behind.parentElement;
      }
      const colour = getComputedStyle(behind).backgroundColor;
      // A body that does not fill the window still colours all of it.
      return clear.test(colour) ? getComputedStyle(document.body).backgroundColor : colour;
    }),
  );
}

/** Whether an element's text is struck through, by itself or by something around it in the same row. */
export function isStruckThrough(locator: Locator): Promise<boolean> {
  return locator.evaluate(
    (element) => {
      for (let at: Element | null = element; at !== null; at = at.parentElement) {
        if (getComputedStyle(at).textDecorationLine.includes("line-through")) return true;
      }
      return false;
    },
    undefined,
    { timeout: 500 },
  );
}

/** For each text: does it stand somewhere on the page, whole and within the window's width? */
export function fitsWindow(page: Page, texts: readonly string[]): Promise<Record<string, boolean>> {
  return page.evaluate((wanted) => {
    const found = new Map(wanted.map((text) => [text, false]));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = (node.textContent ?? "").trim();
      const isShown = node.parentElement?.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!found.has(text) || isShown !== true) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right, width } = range.getBoundingClientRect();
      if (width > 0 && left >= 0 && right <= innerWidth + 1) found.set(text, true);
    }
    return Object.fromEntries(found);
  }, texts);
}

/** How far the page can be scrolled sideways, in CSS pixels. */
export function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => {
    const root = document.scrollingElement ?? document.documentElement;
    return root.scrollWidth - root.clientWidth;
  });
}

/** `#1f3a5f` as browsers write it. */
export function rgb(hex: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${parts.join(", ")})`;
}
