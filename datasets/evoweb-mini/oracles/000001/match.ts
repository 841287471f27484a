import type { Locator } from "playwright";

/** First line of what was thrown. */
export function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

/** Whether a cell shows a value; something may stand behind it, such as a button. */
export function isValue(cell: string, value: string): boolean {
  const [shown, wanted] = [cell.toLowerCase(), value.toLowerCase()];
  if (wanted === "") return /^[-–—]?$/.test(shown);
  return shown === wanted || shown.startsWith(`${wanted} `);
}

/** A button's name inside a row, where it may go on with the name of the row. */
export function inRow(name: string): RegExp {
  return new RegExp(String.raw`^\W*${name}(?!\w)`, "i");
}

/** First visible element of a locator. */
export function visible(locator: Locator): Locator {
  return locator.filter({ visible: true }).first();
}

/** A name as a whole, whatever signs stand around it. */
export function exactly(name: string): RegExp {
  return new RegExp(String.raw`^\W*${literal(name)}\W*$`, "i");
}

/** A text as part of a regular expression; any white space matches any other. */
export function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\s+/g, String.raw`\s+`);
}
