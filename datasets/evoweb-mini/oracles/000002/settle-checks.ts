import * as book from "./book.ts";
import { endsWarning } from "./budget-checks.ts";
import { plain, type Visitor } from "./visitor.ts";

/** The table of the Settle up page: Mira, Jonas, Lea. */
async function people(visitor: Visitor): Promise<book.Line[]> {
  const found = await book.lines(visitor, "Person", "Paid", "Fair share", "Balance");
  return found.filter((line) => ["mira", "jonas", "lea"].includes(line["person"] ?? ""));
}

/** Presses "Mark as paid" beside a sentence: in the smallest part of the page that holds both. */
async function markPaid(visitor: Visitor, sentence: string): Promise<void> {
  const part = visitor.page
    .locator("body *")
    .filter({ hasText: sentence })
    .filter({ has: visitor.page.getByRole("button", { name: /mark as paid/i }) })
    .last();
  await visitor.do(`"${sentence}" can be marked as paid`, () =>
    part
      .getByRole("button", { name: /mark as paid/i })
      .first()
      .click({ timeout: 2500 }),
  );
}

export const request6 = [
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Settle up");
    await visitor.sees(
      "what everybody paid, and a third of everything",
      () => people(visitor),
      (found) =>
        found.length === 3 &&
        book.some(found, { person: "Mira", paid: "€2,012.00", "fair share": "€828.00" }) &&
        book.some(found, { person: "Jonas", paid: "€308.45", "fair share": "€828.00" }) &&
        book.some(found, { person: "Lea", paid: "€163.55", "fair share": "€828.00" }),
    );
    await visitor.sees(
      "the balances",
      () => people(visitor),
      (found) =>
        book.some(found, { person: "Mira", balance: "€1,184.00" }) &&
        book.some(found, { person: "Jonas", balance: "-€519.55" }) &&
        book.some(found, { person: "Lea", balance: "-€664.45" }),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await visitor.follow("Settle up");
    await visitor.reads("who pays whom", "Jonas pays Mira €519.55", "Lea pays Mira €664.45");
    await markPaid(visitor, "Jonas pays Mira €519.55");
    await visitor.misses("Jonas has paid", "Jonas pays Mira");
    await markPaid(visitor, "Lea pays Mira €664.45");
    await visitor.reads("all are even", "All settled");
    await visitor.sees(
      "all balances are zero",
      () => people(visitor),
      (found) => found.length === 3 && found.every((line) => book.has(line, { balance: "€0.00" })),
    );
  },
  async (visitor: Visitor): Promise<void> => {
    const isPaid = (found: book.Line[]): boolean =>
      book.some(found, { person: "Jonas", balance: "€0.00" }) &&
      book.some(found, { person: "Mira", balance: "€664.45" });
    await visitor.follow("Settle up");
    await markPaid(visitor, "Jonas pays Mira €519.55");
    await visitor.reads("it says that the payment was recorded", "Payment recorded");
    await visitor.misses("Jonas owes nothing any more", "Jonas pays Mira");
    await visitor.reads("Lea still owes", "Lea pays Mira €664.45");
    await visitor.sees("the balances of both change", () => people(visitor), isPaid);
    await visitor.reload();
    await visitor.follow("Settle up");
    await visitor.sees("the balances are kept", () => people(visitor), isPaid);
    await visitor.misses("the payment is kept", "Jonas pays Mira");
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await book.add(visitor, { date: "2026-03-23", text: "Theatre", category: "Leisure", paidBy: "Lea", amount: "90" });
    await visitor.do("the expense shows up", () =>
      visitor.page.getByText("Theatre").first().waitFor({ timeout: 2500 }),
    );
    await visitor.follow("Settle up");
    await visitor.sees(
      "the shares count the new expense",
      () => people(visitor),
      (found) =>
        found.length === 3 &&
        found.every((line) => book.has(line, { "fair share": "€858.00" })) &&
        book.some(found, { person: "Lea", paid: "€253.55" }),
    );
    await visitor.reads("so do the sentences", "Jonas pays Mira €549.55", "Lea pays Mira €604.45");
  },
];

const hasText = (found: book.Line[], text: string): boolean => found.some((line) => book.textOf(line) === plain(text));

const isGrey = (visitor: Visitor): Promise<boolean> =>
  visitor.page
    .getByRole("button", { name: /^\s*undo\s*$/i })
    .first()
    .isDisabled({ timeout: 1000 });

export const request7 = [
  async (visitor: Visitor): Promise<void> => {
    const isChanged = (found: book.Line[]): boolean =>
      found.length === 12 &&
      found.some((line) => book.textOf(line) === "dentist" && book.has(line, { amount: "€95.50", date: "2026-02-14" }));
    await book.untilLoaded(visitor);
    await visitor.press("Edit", book.rowOf(visitor, "Dentist"));
    await visitor.sees(
      "the expense is in the form",
      () => visitor.field("Amount").inputValue({ timeout: 1000 }),
      (amount) => Number(amount) === 120,
    );
    await visitor.fill("Amount", "95.50");
    await visitor.press("Save changes");
    await visitor.reads("it says that the expense was updated", "Expense updated");
    await visitor.sees("the line is changed", () => book.expenses(visitor), isChanged);
    await visitor.reads("the total follows", "Total: €2,459.50");
    await visitor.reload();
    await visitor.sees("the change is kept", () => book.expenses(visitor), isChanged);
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.press("Delete", book.rowOf(visitor, "Train passes"));
    await visitor.sees(
      "the line is gone",
      () => book.expenses(visitor),
      (found) => found.length === 11,
    );
    await visitor.press("Undo");
    await visitor.sees(
      "the line is back in its old place",
      () => book.expenses(visitor),
      (found) => {
        const at = found.findIndex((line) => book.textOf(line) === "train passes");
        const [before, line, after] = [found[at - 1], found[at], found[at + 1]];
        return (
          found.length === 12 &&
          book.has(line, { date: "2026-01-17", category: "Transport", "paid by": "Mira", amount: "€58.00" }) &&
          book.has(before, { date: "2026-01-24" }) &&
          book.has(after, { date: "2026-01-09" })
        );
      },
    );
    await visitor.reads("it says that the change was undone", "Change undone");
    await visitor.reads("the old total", "Total: €2,484.00");
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.sees(
      "Undo is greyed out at first",
      () => isGrey(visitor),
      (grey) => grey,
    );
    for (const [text, count] of [
      ["Bike repair", 11],
      ["Pharmacy", 10],
    ] as const) {
      await visitor.press("Delete", book.rowOf(visitor, text));
      await visitor.sees(
        `${text} is gone`,
        () => book.expenses(visitor),
        (found) => found.length === count,
      );
    }
    await visitor.press("Undo");
    await visitor.sees(
      "the last one comes back first",
      () => book.expenses(visitor),
      (found) => found.length === 11 && hasText(found, "Pharmacy") && !hasText(found, "Bike repair"),
    );
    await visitor.press("Undo");
    await visitor.sees(
      "then the other one",
      () => book.expenses(visitor),
      (found) => found.length === 12 && hasText(found, "Pharmacy") && hasText(found, "Bike repair"),
    );
    await visitor.sees(
      "Undo is greyed out again",
      () => isGrey(visitor),
      (grey) => grey,
    );
  },
  async (visitor: Visitor): Promise<void> => {
    await book.untilLoaded(visitor);
    await visitor.press("Edit", book.rowOf(visitor, "Board games"));
    await visitor.choose("Category", "Groceries");
    await visitor.press("Save changes");
    await visitor.sees(
      "the spending by category follows",
      () => book.spending(visitor),
      (found) =>
        book.some(found, { category: "Groceries", spent: "€280.60" }) &&
        book.some(found, { category: "Leisure", spent: "€31.50" }),
    );
    await visitor.sees("the warning follows", () => visitor.text(), endsWarning("2026-03: groceries, housing"));
  },
];
