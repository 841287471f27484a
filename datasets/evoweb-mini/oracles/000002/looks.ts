import type { Locator, Page } from "playwright";

export const green = "rgb(20, 83, 45)";
export const cream = "rgb(246, 244, 238)";
export const red = "rgb(185, 28, 28)";
export const white = "rgb(255, 255, 255)";

/** Colours of something as they are seen: its text, and the first background behind it that is not transparent. */
export interface Look {
  readonly text: string;
  readonly behind: string;
}

/** How the first visible match looks. */
export async function lookOf(target: Locator): Promise<Look> {
  return target
    .filter({ visible: true })
    .first()
    .evaluate(
      (element) => {
        let layer: Element | null = element;
        let behind = "rgba(0, 0, 0, 0)";
        while (layer !== null && /^rgba\(.*, 0\)$|^transparent$/.test(behind)) {
          behind = getComputedStyle(layer).backgroundColor;
          layer = layer.parentElement;
        }
        return { text: getComputedStyle(element).color, behind };
      },
      undefined,
      { timeout: 1000 },
    );
}

/** The colour of the page itself, at its lower left corner. */
export async function pageColour(page: Page): Promise<string> {
  return page.evaluate(() => {
    let layer = document.elementFromPoint(4, innerHeight - 8);
    const layers: Element[] = [];
    for (; layer !== null; layer = layer.parentElement) layers.push(layer);
    // The canvas below everything takes its colour from the root element, or else from the body.
    const colours = [...layers, document.documentElement, document.body].map(
      (each) => getComputedStyle(each).backgroundColor,
    );
    return colours.find((colour) => !/^rgba\(.*, 0\)$|^transparent$/.test(colour)) ?? "rgb(255, 255, 255)";
  });
}

/** Where the amounts in the table of expenses begin and end, in CSS pixels from the left. */
export async function amountEdges(page: Page): Promise<{ left: number; right: number }[]> {
  const rows = page.getByRole("row").filter({ hasText: /\d{4}-\d\d-\d\d/ });
  return rows
    .locator("td, [role=cell], [role=gridcell]")
    .filter({ hasText: "€" })
    .evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        const first = words.nextNode();
        if (first === null) return { left: 0, right: 0 };
        let last = first;
        for (let node = words.nextNode(); node !== null; node = words.nextNode()) last = node;
        range.setStart(first, 0);
        range.setEnd(last, last.textContent?.length ?? 0);
        const { left, right } = range.getBoundingClientRect();
        return { left, right };
      }),
    );
}

/** Colours of the amounts in a row, by amount; a minus in front may be any of the usual signs. */
export async function amountColours(row: Locator): Promise<Record<string, string>> {
  const cells = row.filter({ visible: true }).locator("td, [role=cell], [role=gridcell]").filter({ hasText: "€" });
  const found = await cells.evaluateAll((all) =>
    all.map((cell): [string, string] => {
      const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      let colour = "";
      for (let node = words.nextNode(); node !== null; node = words.nextNode()) {
        if (/\d/.test(node.textContent ?? "") && node.parentElement !== null) {
          colour = getComputedStyle(node.parentElement).color;
        }
      }
      return [(cell.textContent ?? "").trim().replace("\u2212", "-"), colour];
    }),
  );
  return Object.fromEntries(found);
}
