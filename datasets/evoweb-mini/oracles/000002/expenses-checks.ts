import * as book from "./book.ts";
import type { Visitor } from "./visitor.ts";

const total = (amount: string): string => `Total: ${amount}`;

export const request1 = [
  async (visitor: Visitor): Promise<void> => {
    await visitor.sees(
      "twelve expenses, newest first",
      () => book.expenses(visitor),
      (found) => {
        const dates = found.map((line) => line["date"] ?? "");
        return found.length === 12 && dates.every((date, at) => at === 0 || date <= (dates[at - 1] ?? ""));
      },
    );
    await visitor.sees(
      "the first line is Pharmacy",
      () => book.expenses(visitor),
      ([first]) =>
        first !== undefined &&
        book.textOf(first) === "pharmacy" &&
        book.has(first, { date: "2026-03-22", category: "Health", "paid by": "Mira", amount: "€18.00" }),
    );
    await visitor.sees(
      "the last line is January rent",
      () => book.expenses(visitor),
      (found) => {
        const last = found.at(-1);
        return (
          last !== undefined &&
          book.textOf(last) === "january rent" &&
          book.has(last, { date: "2026-01-05", category: "Housing", "paid by": "Mira", amount: "€640.00" })
        );
      },
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const entry = { date: "2026-03-28", text: "Bus tickets", category: "Transport", paidBy: "Jonas", amount: "12.5" };
    await book.untilLoaded(visitor);
    await book.add(visitor, entry);
    await visitor.reads("it says that the expense was added", "Expense added");
    await visitor.sees(
      "Bus tickets stands at the top",
      () => book.expenses(visitor),
      ([first, second]) =>
        first !== undefined &&
        second !== undefined &&
        book.textOf(first) === "bus tickets" &&
        book.has(first, { date: "2026-03-28", category: "Transport", "paid by": "Jonas", amount: "€12.50" }) &&
        book.textOf(second) === "pharmacy",
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.reads("the total of the twelve expenses", total("€2,484.00"));
    await book.add(visitor, { date: "2026-03-29", text: "Sofa", category: "Housing", paidBy: "Lea", amount: "1250" });
    await visitor.reads("the total with the sofa", total("€3,734.00"));
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await book.add(visitor, { date: "2026-03-30", text: "", category: "Leisure", paidBy: "Mira", amount: "9.90" });
    await visitor.reads("an empty text is refused", "Please enter what it was for");
    await book.add(visitor, {
      date: "2026-03-30",
      text: "Free sample",
      category: "Leisure",
      paidBy: "Mira",
      amount: "0",
    });
    await visitor.reads("an amount of zero is refused", "Amount must be more than zero");
    await visitor.reload();
    await visitor.sees(
      "nothing was added",
      () => book.expenses(visitor),
      (found) => found.length === 12 && !found.some((line) => book.textOf(line) === "free sample"),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const isGone = (found: book.Line[]): boolean =>
      found.length === 11 && !found.some((line) => book.textOf(line) === "cinema night");
    await book.untilLoaded(visitor);
    await visitor.press("Delete", book.rowOf(visitor, "Cinema night"));
    await visitor.reads("it says that the expense was deleted", "Expense deleted");
    await visitor.sees("the line is gone", () => book.expenses(visitor), isGone);
    await visitor.reload();
    await visitor.sees("the line is gone after a reload", () => book.expenses(visitor), isGone);
    await visitor.reads("the total without it", total("€2,452.50"));
  },
  async (visitor: Visitor): Promise<void> => {
    const isThere = (found: book.Line[]): boolean =>
      found.some((line) => book.textOf(line) === "garden soil" && book.has(line, { amount: "€23.40" }));
    await book.untilLoaded(visitor);
    await book.add(visitor, {
      date: "2026-03-30",
      text: "Garden soil",
      category: "Leisure",
      paidBy: "Mira",
      amount: "23.40",
    });
    await visitor.do("the expense shows up", () =>
      visitor.page.getByText("Garden soil").first().waitFor({ timeout: 2500 }),
    );
    await visitor.reload();
    await visitor.sees("it is there after a reload", () => book.expenses(visitor), isThere);
    await visitor.restart();
    await visitor.sees("it is there after a restart of the server", () => book.expenses(visitor), isThere);
  },
];

export const request2 = [
  async (visitor: Visitor): Promise<void> => {
    await visitor.sees(
      "sums by category, largest first",
      () => book.spending(visitor),
      (found) =>
        book.equal(found, [
          { category: "Housing", spent: "€1,936.00" },
          { category: "Groceries", spent: "€225.80" },
          { category: "Health", spent: "€138.00" },
          { category: "Transport", spent: "€97.90" },
          { category: "Leisure", spent: "€86.30" },
        ]),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.sees(
      "shares in whole percent",
      () => book.spending(visitor),
      (found) =>
        [
          ["Housing", "78%"],
          ["Groceries", "9%"],
          ["Health", "6%"],
          ["Transport", "4%"],
          ["Leisure", "3%"],
        ].every(([category = "", share = ""]) => book.some(found, { category, share })),
    );
    await book.add(visitor, {
      date: "2026-03-26",
      text: "Festival",
      category: "Leisure",
      paidBy: "Lea",
      amount: "100",
    });
    await visitor.sees(
      "Leisure moves to the third place",
      () => book.spending(visitor),
      (found) =>
        book.has(found[1], { category: "Groceries" }) &&
        book.has(found[2], { category: "Leisure", spent: "€186.30", share: "7%" }) &&
        book.has(found[3], { category: "Health" }),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.reads("the biggest expense", "Biggest expense: March rent (€656.00)");
    await book.add(visitor, {
      date: "2026-03-27",
      text: "Washing machine",
      category: "Housing",
      paidBy: "Jonas",
      amount: "899",
    });
    await visitor.reads("the new biggest expense", "Biggest expense: Washing machine (€899.00)");
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.press("Delete", book.rowOf(visitor, "Dentist"));
    await visitor.sees(
      "Health falls to the bottom",
      () => book.spending(visitor),
      (found) => found.length === 5 && book.has(found[4], { category: "Health", spent: "€18.00", share: "1%" }),
    );
    await visitor.sees(
      "the other shares grow",
      () => book.spending(visitor),
      (found) => book.has(found[0], { category: "Housing", share: "82%" }),
    );
  },
];

export const request3 = [
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.fill("Search", "weekly");
    await visitor.sees(
      "only the two weekly shops are shown",
      () => book.expenses(visitor),
      (found) =>
        book.equal(found, [{ date: "2026-03-08" }, { date: "2026-01-09" }]) &&
        found.every((line) => book.textOf(line) === "weekly shop"),
    );
    await visitor.reads("it says how many are shown", "Showing 2 of 12 expenses");
    await visitor.reads("the total of what is shown", total("€178.55"));
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.choose("Filter category", "Groceries");
    await visitor.choose("Month", "2026-02");
    await visitor.sees(
      "only Market stall fits both filters",
      () => book.expenses(visitor),
      ([only, ...others]) =>
        only !== undefined &&
        others.length === 0 &&
        book.textOf(only) === "market stall" &&
        book.has(only, { amount: "€47.25" }),
    );
    await visitor.reads("one of twelve is shown", "Showing 1 of 12 expenses");
    await visitor.press("Clear filters");
    await visitor.sees(
      "all are shown again",
      () => book.expenses(visitor),
      (found) => found.length === 12,
    );
    await visitor.reads("twelve of twelve are shown", "Showing 12 of 12 expenses");
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.choose("Month", "2026-03");
    await visitor.do("the filter works", () =>
      visitor.page.getByText("January rent").first().waitFor({ state: "hidden", timeout: 2500 }),
    );
    await visitor.reload();
    await visitor.sees(
      "the month is still chosen",
      () => visitor.chosen("Month"),
      (month) => month.trim() === "2026-03",
    );
    await visitor.sees(
      "only the expenses of March are shown",
      () => book.expenses(visitor),
      (found) => found.length === 4 && found.every((line) => line["date"]?.startsWith("2026-03") ?? false),
    );
    await visitor.reads("the total of March", total("€820.95"));
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.choose("Month", "2026-01");
    await visitor.sees(
      "spending by category of January only",
      () => book.spending(visitor),
      (found) =>
        book.equal(found, [
          { category: "Housing", spent: "€640.00", share: "78%" },
          { category: "Groceries", spent: "€86.40", share: "11%" },
          { category: "Transport", spent: "€58.00", share: "7%" },
          { category: "Leisure", spent: "€31.50", share: "4%" },
        ]),
    );
    await visitor.reads("the biggest expense of January", "Biggest expense: January rent (€640.00)");
  },
];
