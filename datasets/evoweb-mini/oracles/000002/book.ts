import type { Locator } from "playwright";
import { plain, type Visitor } from "./visitor.ts";

/** A line of a table: what its cells say in plain form, by the plain name of the column. */
export type Line = Readonly<Record<string, string>>;

/** An expense as it is typed into the form. */
export interface Entry {
  readonly date: string;
  readonly text: string;
  readonly category: string;
  /** Left as the form has it when absent. */
  readonly paidBy?: string;
  readonly amount: string;
}

const categories = ["groceries", "housing", "transport", "leisure", "health"];

/** Lines of the visible table that has all these columns; empty when there is no such table. */
export async function lines(visitor: Visitor, ...columns: string[]): Promise<Line[]> {
  const tables = await visitor.page.getByRole("table").or(visitor.page.getByRole("grid")).evaluateAll(readTables);
  for (const [head = [], ...body] of tables) {
    const names = head.map(plain);
    if (!columns.every((column) => names.includes(plain(column)))) continue;
    return body.map((cells) => Object.fromEntries(cells.map((cell, at) => [names[at] ?? "", plain(cell)])));
  }
  return [];
}

/** The cells of the visible rows of each visible table; runs in the page, where a named inner function would miss tsx's helper. */
function readTables(tables: Element[]): string[][][] {
  return tables
    .filter((table) => table.checkVisibility({ visibilityProperty: true }))
    .map((table) =>
      [...table.querySelectorAll("tr, [role=row]")]
        .filter((row) => row.checkVisibility({ visibilityProperty: true }))
        .map((row) =>
          [...row.querySelectorAll("td, th, [role=cell], [role=gridcell], [role=columnheader], [role=rowheader]")].map(
            (cell) => (cell as HTMLElement).innerText,
          ),
        ),
    );
}

/** The expenses in the order of the table. */
export async function expenses(visitor: Visitor): Promise<Line[]> {
  const found = await lines(visitor, "Date", "Category", "Paid by", "Amount");
  return found.filter((line) => /^\d{4}-\d\d-\d\d$/.test(line["date"] ?? ""));
}

/** What an expense was for, whatever the column is called at the time. */
export function textOf(line: Line): string {
  return line["description"] ?? line["what for"] ?? "";
}

/** The table of spending by category. */
export async function spending(visitor: Visitor): Promise<Line[]> {
  const found = await lines(visitor, "Category", "Spent", "Share");
  return found.filter((line) => categories.includes(line["category"] ?? ""));
}

/** The table of the Budgets page. */
export async function budgets(visitor: Visitor): Promise<Line[]> {
  const found = await lines(visitor, "Category", "Monthly limit", "Spent", "Left");
  return found.filter((line) => categories.includes(line["category"] ?? ""));
}

/** Whether a line has each of these cells; a cell may carry more beside the word or amount, such as an arrow. */
export function has(line: Line | undefined, cells: Readonly<Record<string, string>>): boolean {
  return (
    line !== undefined &&
    Object.entries(cells).every(([column, wanted]) => ` ${line[column] ?? ""} `.includes(` ${plain(wanted)} `))
  );
}

/** Whether lines have these cells, one by one and no line more. */
export function equal(found: readonly Line[], wanted: readonly Readonly<Record<string, string>>[]): boolean {
  return found.length === wanted.length && wanted.every((cells, at) => has(found[at], cells));
}

/** Whether some line has these cells. */
export function some(found: readonly Line[], cells: Readonly<Record<string, string>>): boolean {
  return found.some((line) => has(line, cells));
}

/** The row of an expense, to press a button in it. */
export function rowOf(visitor: Visitor, text: string): Locator {
  return visitor.page.getByRole("row").filter({ hasText: text });
}

/** Fills in the form and presses "Add expense". */
export async function add(visitor: Visitor, entry: Entry): Promise<void> {
  await visitor.fill("Date", entry.date);
  await fillText(visitor, entry.text);
  await visitor.choose("Category", entry.category);
  if (entry.paidBy !== undefined) await visitor.choose("Paid by", entry.paidBy);
  await visitor.fill("Amount", entry.amount);
  await visitor.press("Add expense");
}

/** Fills in what the expense was for; request 5 renames that field. */
export async function fillText(visitor: Visitor, text: string): Promise<void> {
  const field = visitor.field("Description").or(visitor.field("What for")).first();
  await visitor.do("what the expense was for can be filled in", () => field.fill(text, { timeout: 2500 }));
}

/** The expenses are on the page: later steps must not race the first load. */
export async function untilLoaded(visitor: Visitor): Promise<void> {
  await visitor.do("the expenses are shown", () =>
    visitor.page.getByText("January rent").first().waitFor({ timeout: 2500 }),
  );
}
