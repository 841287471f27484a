import * as book from "./book.ts";
import { amountColours, amountEdges, cream, green, lookOf, pageColour, red, white, type Look } from "./looks.ts";
import { named, type Visitor } from "./visitor.ts";

const march = [
  { category: "Groceries", spent: "€92.15", left: "€27.85" },
  { category: "Housing", spent: "€656.00", left: "-€6.00" },
  { category: "Transport", spent: "€0.00", left: "€60.00" },
  { category: "Leisure", spent: "€54.80", left: "-€4.80" },
  { category: "Health", spent: "€18.00", left: "€82.00" },
];

const limitOf = async (visitor: Visitor, category: string): Promise<number> =>
  Number(await visitor.field(`Limit for ${category}`).inputValue({ timeout: 1000 }));

export const request4 = [
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Budgets");
    await visitor.sees(
      "the newest month is chosen",
      () => visitor.chosen("Budget month"),
      (month) => month.trim() === "2026-03",
    );
    await visitor.sees(
      "limits against spending in March",
      () => book.budgets(visitor),
      (found) => book.equal(found, march),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const isLeft = (found: book.Line[]): boolean => book.some(found, { category: "Leisure", left: "€25.20" });
    await visitor.follow("Budgets");
    await visitor.fill("Limit for Leisure", "80");
    await visitor.press("Save limits");
    await visitor.reads("it says that the limits were saved", "Limits saved");
    await visitor.sees("what is left follows", () => book.budgets(visitor), isLeft);
    await visitor.reload();
    await visitor.follow("Budgets");
    await visitor.sees("it is left after a reload", () => book.budgets(visitor), isLeft);
    await visitor.restart();
    await visitor.follow("Budgets");
    await visitor.sees("it is left after a restart", () => book.budgets(visitor), isLeft);
    await visitor.sees(
      "the limit is kept",
      () => limitOf(visitor, "Leisure"),
      (limit) => limit === 80,
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Budgets");
    await visitor.choose("Budget month", "2026-02");
    await visitor.sees(
      "Groceries in February",
      () => book.budgets(visitor),
      (found) => book.some(found, { category: "Groceries", spent: "€47.25", left: "€72.75" }),
    );
    await visitor.sees(
      "Health and Leisure in February",
      () => book.budgets(visitor),
      (found) =>
        book.some(found, { category: "Health", spent: "€120.00", left: "-€20.00" }) &&
        book.some(found, { category: "Leisure", spent: "€0.00", left: "€50.00" }),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.sees("the warning", () => visitor.text(), endsWarning("2026-03: housing, leisure"));
    await book.add(visitor, { date: "2026-03-25", text: "Taxi", category: "Transport", paidBy: "Mira", amount: "75" });
    await visitor.sees(
      "the warning follows",
      () => visitor.text(),
      endsWarning("2026-03: housing, transport, leisure"),
    );
    await visitor.follow("Budgets");
    await visitor.sees(
      "the budget follows",
      () => book.budgets(visitor),
      (found) => book.some(found, { category: "Transport", spent: "€75.00", left: "-€15.00" }),
    );
  },
];

/** The warning names these categories, and no other one follows. */
export function endsWarning(wanted: string): (text: string) => boolean {
  return (text) => {
    const [, after] = text.split(`over budget in ${wanted}`);
    return after !== undefined && !after.trimStart().startsWith(",");
  };
}

const title = (visitor: Visitor) => visitor.page.getByText(named("Hearthbook"));
const button = (visitor: Visitor, name: string) => visitor.page.getByRole("button", { name: named(name) });
const isGreenBar = (look: Look): boolean => look.behind === green && look.text === white;

export const request5 = [
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.sees("the bar is green with white text", () => lookOf(title(visitor)), isGreenBar);
    await visitor.sees(
      "the page is off-white",
      () => pageColour(visitor.page),
      (colour) => colour === cream,
    );
    await visitor.follow("Budgets");
    await visitor.do("the Budgets page opens", () => button(visitor, "Save limits").waitFor({ timeout: 2500 }));
    await visitor.sees("the bar is green on Budgets too", () => lookOf(title(visitor)), isGreenBar);
    await visitor.sees(
      "Budgets is off-white too",
      () => pageColour(visitor.page),
      (colour) => colour === cream,
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.sees("Add expense is green and white", () => lookOf(button(visitor, "Add expense")), isGreenBar);
    await visitor.sees(
      "Delete is red on white",
      () => lookOf(button(visitor, "Delete")),
      (look) => look.text === red && look.behind === white,
    );
    await visitor.sees(
      "amounts are aligned to the right",
      () => amountEdges(visitor.page),
      (edges) => {
        const lefts = edges.map((edge) => edge.left);
        const rights = edges.map((edge) => edge.right);
        return (
          edges.length > 1 &&
          Math.max(...rights) - Math.min(...rights) < 2 &&
          Math.max(...lefts) - Math.min(...lefts) > 3
        );
      },
    );
    await visitor.follow("Budgets");
    await visitor.sees("Save limits is green and white", () => lookOf(button(visitor, "Save limits")), isGreenBar);
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.misses("What for is nowhere any more", "What for");
    await visitor.sees(
      "the column is called Description",
      () => book.lines(visitor, "Date", "Description", "Paid by"),
      (found) => found.length > 0,
    );
    await visitor.fill("Description", "Houseplant");
    await visitor.fill("Date", "2026-03-24");
    await visitor.choose("Category", "Leisure");
    await visitor.choose("Paid by", "Lea");
    await visitor.fill("Amount", "14.20");
    await visitor.press("Add expense");
    await visitor.sees(
      "Houseplant is added",
      () => book.expenses(visitor),
      (found) => book.some(found, { description: "Houseplant", amount: "€14.20", "paid by": "Lea" }),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const left = (category: string) => amountColours(visitor.page.getByRole("row").filter({ hasText: category }));
    await visitor.follow("Budgets");
    await visitor.sees(
      "what is below zero is red",
      async () => ({ ...(await left("Housing")), ...(await left("Leisure")) }),
      (colours) => colours["-€6.00"] === red && colours["-€4.80"] === red,
    );
    await visitor.sees(
      "other amounts are not red",
      async () => ({ ...(await left("Groceries")), ...(await left("Health")) }),
      (colours) => "€27.85" in colours && "€82.00" in colours && !Object.values(colours).includes(red),
    );
    await visitor.fill("Limit for Housing", "700");
    await visitor.press("Save limits");
    await visitor.sees(
      "Housing is not red any more",
      () => left("Housing"),
      (colours) => "€44.00" in colours && colours["€44.00"] !== red,
    );
  },
];
