import * as book from "./book.ts";
import { plain, type Visitor } from "./visitor.ts";

const heading = "date,description,category,paid by,amount";
const pool = "2026-03-18,Swimming pool,Leisure,Lea,16.00";
const bulbs = "2026-03-19,Light bulbs,Housing,Mira,11.30";
const fileOf = (...body: string[]): string => `${[heading, ...body].join("\n")}\n`;

const countOf = (found: readonly book.Line[], text: string): number =>
  found.filter((line) => book.textOf(line) === plain(text)).length;

/** A line of a CSV file without the quotes it may have and does not need. */
const unquoted = (line: string | undefined): string => (line ?? "").replaceAll('"', "");

export const request8 = [
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    const file = await visitor.download("Export CSV");
    const lines = file.lines.map(unquoted);
    await visitor.sees(
      "the file is named expenses.csv",
      async () => file.name,
      (name) => name === "expenses.csv",
    );
    await visitor.sees(
      "the heading",
      async () => lines[0],
      (line) => line === heading,
    );
    await visitor.sees(
      "twelve expenses in the order of the table",
      async () => lines.slice(1),
      (body) =>
        body.length === 12 &&
        body[0] === "2026-03-22,Pharmacy,Health,Mira,18.00" &&
        body[11] === "2026-01-05,January rent,Housing,Mira,640.00" &&
        body.includes("2026-02-14,Dentist,Health,Jonas,120.00"),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.choose("Month", "2026-01");
    await visitor.reads("the filter works", "Showing 4 of 12 expenses");
    const file = await visitor.download("Export CSV");
    await visitor.sees(
      "the file has the expenses of January only",
      async () => file.lines.slice(1).map(unquoted),
      (body) =>
        body.length === 4 &&
        body.every((line) => line.startsWith("2026-01-")) &&
        body.includes("2026-01-09,Weekly shop,Groceries,Jonas,86.40"),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const text = fileOf(pool, "2026-02-14,Dentist,Health,Jonas,120.00", bulbs, "2026-03-20,Cat food,Pets,Mira,9.00");
    await visitor.follow("Import");
    await visitor.chooseFile("bank.csv", text);
    await visitor.reads("what was found", "2 new, 1 duplicate, 1 with errors");
    await visitor.reads("the faulty line by its number", 'Line 5: Unknown category "Pets"');
    await visitor.press("Import 2 expenses");
    await visitor.reads("it says how many were imported", "2 expenses imported");
    await visitor.follow("Expenses");
    await visitor.sees(
      "the new expenses are in the table",
      () => book.expenses(visitor),
      (found) =>
        found.length === 14 &&
        book.some(found, { date: "2026-03-18", "paid by": "Lea", amount: "€16.00" }) &&
        book.some(found, { date: "2026-03-19", "paid by": "Mira", amount: "€11.30" }),
    );
    await visitor.sees(
      "neither a duplicate nor the faulty line",
      () => book.expenses(visitor),
      (found) =>
        countOf(found, "Swimming pool") === 1 && countOf(found, "Dentist") === 1 && countOf(found, "Cat food") === 0,
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Import");
    await visitor.chooseFile("bank.csv", fileOf(pool, bulbs));
    await visitor.press("Import 2 expenses");
    await visitor.reads("it says how many were imported", "2 expenses imported");
    await visitor.follow("Expenses");
    await visitor.reads("the total with both", "Total: €2,511.30");
    await visitor.press("Undo");
    await visitor.reads("one step takes both back", "Showing 12 of 12 expenses", "Total: €2,484.00");
  },
];
