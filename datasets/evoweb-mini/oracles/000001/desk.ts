import type { Entry } from "./read-page.ts";
import { literal } from "./match.ts";
import type { Visit } from "./visit.ts";

/** Columns that tell the tables of the desk apart. */
export const items = ["code", "fee per day", "status"] as const;
export const loans = ["item", "lent on", "due back"] as const;
export const people = ["name", "open loans"] as const;
export const accounts = ["name", "owes"] as const;
export const activity = ["date", "change", "state"] as const;
export const preview = ["line", "code", "result"] as const;
export const report = ["category", "loans", "fees", "late fees"] as const;

/** Request 6 renames borrowers to members; where the word does not matter, either is right. */
const peopleName = /^\W*(borrowers|members)\W*$/i;

export function openPeople(visit: Visit): Promise<void> {
  return visit.open(peopleName);
}

export async function openPerson(visit: Visit, name: string): Promise<void> {
  await openPeople(visit);
  await visit.open(name);
}

export async function addPerson(visit: Visit, name: string): Promise<void> {
  await openPeople(visit);
  await visit.fill("Name", name);
  await visit.press(/^\W*Add (borrower|member)\W*$/i);
  await visit.settle(() => visit.entry(people, name));
}

export interface NewItem {
  readonly code: string;
  readonly name: string;
  readonly category: string;
  readonly fee: string;
}

export async function fillItem(visit: Visit, { code, name, category, fee }: NewItem): Promise<void> {
  await visit.fill("Code", code);
  await visit.fill("Name", name);
  await visit.choose("Category", category);
  await visit.fill("Fee per day", fee);
}

/** Opens Loans, fills in the form and presses Lend; says nothing about what comes of it. */
export async function askToLend(visit: Visit, item: string, { to, days }: { to: string; days: number }): Promise<void> {
  await visit.open("Loans");
  await visit.choose("Item", item);
  await visit.choose("(Borrower|Member)", to);
  await visit.fill("Days", String(days));
  await visit.press("Lend");
}

/** Lends and waits until the loan is listed, or the patience is over. */
export async function lend(visit: Visit, item: string, terms: { to: string; days: number }): Promise<void> {
  await askToLend(visit, item, terms);
  await visit.settle(() => visit.entry(loans, item));
}

/** Returns an item on the Loans page and waits until its row has no Return button any more. */
export async function giveBack(visit: Visit, item: string): Promise<void> {
  await visit.open("Loans");
  await visit.pressInRow("Return", item);
  await visit.settle(async () => (await visit.entry(loans, item))?.["status"]?.toLowerCase().startsWith("returned"));
}

export async function pay(visit: Visit, name: string, amount: string): Promise<void> {
  await openPerson(visit, name);
  let before = "";
  await visit.settle(async () => (before = await visit.text()));
  await visit.fill("Amount", amount);
  await visit.press("Record payment");
  await visit.settle(async () => (await visit.text()) !== before);
}

/** Presses Next day and waits for the new book date. */
export async function nextDay(visit: Visit, date: string): Promise<void> {
  await visit.press("Next day");
  await visit.settle(async () => bookDate(date).test(await visit.text()));
}

export async function setTier(visit: Visit, name: string, tier: string): Promise<void> {
  await openPerson(visit, name);
  await visit.choose("Tier", tier);
  await visit.send("Save tier");
  await visit.settle(async () => {
    await openPeople(visit);
    return (await visit.entry(["name", "tier"], name))?.["tier"] === tier;
  });
}

/** Opens Activity, undoes the newest change and waits until one line more is undone. */
export async function undo(visit: Visit): Promise<void> {
  await visit.open("Activity");
  let before = 0;
  await visit.settle(async () => {
    const lines = await visit.entries(activity);
    before = countUndone(lines);
    return lines;
  });
  await visit.press("Undo last change");
  await visit.settle(async () => countUndone(await visit.entries(activity)) > before);
}

function countUndone(lines: readonly Entry[] | undefined): number {
  return (lines ?? []).filter((one) => /undone/i.test(one["state"] ?? "")).length;
}

export function bookDate(date: string): RegExp {
  return new RegExp(String.raw`Book date[:\s]*${date}`, "i");
}

/** A line such as `Open fees: €76.50`, wherever its two parts stand. */
export function line(name: string, value: string): RegExp {
  return new RegExp(String.raw`\b${literal(name)}[:\s]*${literal(value)}(?![\d.]*\d)`, "i");
}
