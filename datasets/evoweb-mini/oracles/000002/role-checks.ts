import * as book from "./book.ts";
import { endsWarning } from "./budget-checks.ts";
import { named, plain, type Visitor } from "./visitor.ts";

/** Dates of the expenses that have a button with this name. */
async function withButton(visitor: Visitor, name: string): Promise<string[]> {
  const rows = visitor.page.getByRole("row").filter({ has: visitor.page.getByRole("button", { name: named(name) }) });
  const texts = await rows.filter({ visible: true }).allInnerTexts();
  return texts.map((text) => /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "").toSorted();
}

const ofLea = "2026-01-24 2026-02-21 2026-03-08";

async function seesOnlyHers(visitor: Visitor, when: string): Promise<void> {
  for (const name of ["Delete", "Edit"]) {
    await visitor.sees(
      `${name} only for her own expenses ${when}`,
      () => withButton(visitor, name),
      (dates) => dates.join(" ") === ofLea,
    );
  }
  await visitor.sees(
    `no Undo button ${when}`,
    () => visitor.page.getByRole("button", { name: named("Undo") }).count(),
    (count) => count === 0,
  );
}

export const request9 = [
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.sees(
      "Mira is acting at first",
      () => visitor.chosen("Acting as"),
      (name) => name.trim() === "Mira",
    );
    await visitor.sees(
      "Delete for all twelve",
      () => withButton(visitor, "Delete"),
      (dates) => dates.length === 12,
    );
    await visitor.choose("Acting as", "Lea");
    await seesOnlyHers(visitor, "with Lea");
    await visitor.reload();
    await book.untilLoaded(visitor);
    await visitor.sees(
      "Lea is still chosen",
      () => visitor.chosen("Acting as"),
      (name) => name.trim() === "Lea",
    );
    await seesOnlyHers(visitor, "after the reload");
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.choose("Acting as", "Lea");
    await visitor.sees(
      "Paid by offers only Lea",
      () => visitor.field("Paid by").locator("option").allTextContents(),
      (options) => options.every((option) => option.trim() === "Lea"),
    );
    await book.add(visitor, { date: "2026-03-21", text: "Comic books", category: "Leisure", amount: "8.75" });
    await visitor.sees(
      "the expense is added as hers",
      () => book.expenses(visitor),
      (found) =>
        found.some(
          (line) => book.textOf(line) === "comic books" && book.has(line, { "paid by": "Lea", amount: "€8.75" }),
        ),
    );
    await visitor.sees(
      "she may delete it",
      () => withButton(visitor, "Delete"),
      (dates) => dates.join(" ") === `${ofLea} 2026-03-21`,
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const { page } = visitor;
    await visitor.follow("Budgets");
    await visitor.choose("Acting as", "Lea");
    await visitor.reads("it says who may change limits", "Only Mira and Jonas can change limits");
    await visitor.sees(
      "the fields cannot be changed",
      async () => {
        const fields = await page.getByLabel(/^Limit for /i).all();
        const open = await Promise.all(fields.map((field) => field.isEditable({ timeout: 1000 })));
        return open.filter(Boolean).length;
      },
      (open) => open === 0,
    );
    await visitor.sees(
      "there is no Save limits",
      () => page.getByRole("button", { name: named("Save limits") }).count(),
      (count) => count === 0,
    );
    await visitor.choose("Acting as", "Jonas");
    await visitor.fill("Limit for Health", "150");
    await visitor.press("Save limits");
    await visitor.reads("Jonas can save", "Limits saved");
    await visitor.sees(
      "what is left follows",
      () => book.budgets(visitor),
      (found) => book.some(found, { category: "Health", left: "€132.00" }),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const { page } = visitor;
    const links = (): Promise<number> => page.getByRole("link", { name: named("Import") }).count();
    await visitor.follow("Import");
    await visitor.do("Mira has a file field", () =>
      page.locator("input[type=file]").first().waitFor({ state: "attached", timeout: 2500 }),
    );
    const address = page.url();
    await visitor.choose("Acting as", "Lea");
    await visitor.open(address);
    await visitor.reads("Lea is told that she cannot import", "Only Mira and Jonas can import");
    await visitor.sees(
      "there is no file field",
      () => page.locator("input[type=file]").count(),
      (count) => count === 0,
    );
    await visitor.sees("there is no link Import", links, (count) => count === 0);
    await visitor.follow("Expenses");
    await visitor.sees(
      "she can still export",
      () => page.getByRole("button", { name: named("Export CSV") }).count(),
      (count) => count > 0,
    );
  },
];

/** The table of the Months page. */
async function months(visitor: Visitor): Promise<book.Line[]> {
  const found = await book.lines(visitor, "Month", "Spent", "Change", "Over budget");
  return found.filter((line) => /^\d{4}-\d\d$/.test(line["month"] ?? ""));
}

/** Whether a month is over budget in exactly these categories. */
function isOver(found: readonly book.Line[], month: string, names: string): boolean {
  return found.some((line) => line["month"] === month && line["over budget"] === plain(names));
}

export const request10 = [
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Months");
    await visitor.sees(
      "what was spent, newest month first",
      () => months(visitor),
      (found) =>
        book.equal(found, [
          { month: "2026-03", spent: "€820.95" },
          { month: "2026-02", spent: "€847.15" },
          { month: "2026-01", spent: "€815.90" },
        ]),
    );
    await visitor.sees(
      "the change from month to month",
      () => months(visitor),
      (found) =>
        book.some(found, { month: "2026-03", change: "-€26.20" }) &&
        book.some(found, { month: "2026-02", change: "+€31.25" }) &&
        found.some((line) => line["month"] === "2026-01" && /^[-–—]$/.test(line["change"] ?? "")),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Months");
    await visitor.sees(
      "what is over budget",
      () => months(visitor),
      (found) =>
        isOver(found, "2026-03", "Housing, Leisure") &&
        isOver(found, "2026-02", "Health") &&
        isOver(found, "2026-01", "none"),
    );
    await visitor.reads("the average", "Average per month: €828.00");
    await visitor.follow("Expenses");
    await book.add(visitor, {
      date: "2026-02-27",
      text: "Winter boots",
      category: "Leisure",
      paidBy: "Mira",
      amount: "66",
    });
    await visitor.do("the expense shows up", () =>
      visitor.page.getByText("Winter boots").first().waitFor({ timeout: 2500 }),
    );
    await visitor.follow("Months");
    await visitor.sees(
      "the months follow",
      () => months(visitor),
      (found) =>
        book.some(found, { month: "2026-02", spent: "€913.15" }) &&
        isOver(found, "2026-02", "Leisure, Health") &&
        book.some(found, { month: "2026-03", change: "-€92.20" }),
    );
    await visitor.reads("the average follows", "Average per month: €850.00");
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Months");
    await visitor.follow("2026-02");
    await visitor.sees(
      "the month is chosen",
      () => visitor.chosen("Month"),
      (month) => month.trim() === "2026-02",
    );
    await visitor.reads("four expenses with their total", "Showing 4 of 12 expenses", "Total: €847.15");
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Budgets");
    await visitor.fill("Limit for Leisure", "60");
    await visitor.fill("Limit for Groceries", "40");
    await visitor.press("Save limits");
    await visitor.reads("the limits are saved", "Limits saved");
    await visitor.follow("Months");
    await visitor.sees(
      "months are judged by the new limits",
      () => months(visitor),
      (found) =>
        isOver(found, "2026-03", "Groceries, Housing") &&
        isOver(found, "2026-02", "Groceries, Health") &&
        isOver(found, "2026-01", "Groceries"),
    );
    await visitor.follow("Expenses");
    await visitor.sees("so is the warning", () => visitor.text(), endsWarning("2026-03: groceries, housing"));
  },
];
