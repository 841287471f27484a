import {
  accounts,
  activity,
  addPerson,
  bookDate,
  giveBack,
  items,
  lend,
  line,
  loans,
  nextDay,
  openPeople,
  pay,
  people,
  undo,
} from "./desk.ts";
import type { Script } from "./requests-1-3.ts";
import type { Visit } from "./visit.ts";

/** Names of the items in the loans table, top to bottom; empty when the table is empty or gone. */
async function listed(visit: Visit): Promise<string[]> {
  return ((await visit.entries(loans)) ?? []).map((entry) => entry["item"] ?? "");
}

function seeListed(visit: Visit, point: string, expected: readonly string[]): Promise<boolean> {
  return visit.see(
    point,
    () => listed(visit),
    (seen) => seen.join("\n").toLowerCase() === expected.join("\n").toLowerCase(),
  );
}

export const request4: Script[] = [
  async (visit) => {
    await visit.open("Loans");
    await visit.fill("Search loans", "TRIM");
    await seeListed(visit, "TRIM leaves the Hedge trimmer", ["Hedge trimmer"]);
    await visit.seeText("TRIM shows 1 of 3", /Showing 1 of 3\b/i);
    await visit.fill("Search loans", "bran");
    await seeListed(visit, "bran leaves the drill of Ada Brandt", ["Cordless drill"]);
    await visit.fill("Search loans", "");
    await seeListed(visit, "an empty search lists all", ["Cordless drill", "Hedge trimmer", "Claw hammer"]);
    await visit.seeText("an empty search shows 3 of 3", /Showing 3 of 3\b/i);
  },
  async (visit) => {
    await visit.open("Loans");
    await visit.choose("Show", "Returned");
    await seeListed(visit, "Returned leaves the Claw hammer", ["Claw hammer"]);
    await visit.fill("Search loans", "drill");
    await visit.seeText(
      "with drill nothing matches",
      /No loans match[^]*Showing 0 of 3|Showing 0 of 3[^]*No loans match/i,
    );
    await visit.page.reload();
    await visit.see(
      "both choices are there after a reload",
      async () => [await chosen(visit, "Show"), await visit.field("Search loans").inputValue({ timeout: 500 })],
      ([show, search]) => show === "Returned" && search === "drill",
    );
    await visit.seeText("nothing matches after a reload", "No loans match");
    await seeListed(visit, "no loan is listed after a reload", []);
  },
  async (visit) => {
    await visit.open("Loans");
    const heading = visit.page
      .getByRole("columnheader", { name: /\bFee\b/i })
      .filter({ visible: true })
      .first();
    const click = async (): Promise<void> => {
      const button = heading.getByRole("button");
      const target = (await button.count()) > 0 ? button.first() : heading;
      await target.click({ timeout: visit.patienceMs });
    };
    await visit.see("the heading Fee can be clicked", click, () => true);
    const isSorted = await seeListed(visit, "the lowest fee is on top", [
      "Claw hammer",
      "Cordless drill",
      "Hedge trimmer",
    ]);
    if (!isSorted) return;
    await click();
    await seeListed(visit, "the highest fee is on top after a second click", [
      "Hedge trimmer",
      "Cordless drill",
      "Claw hammer",
    ]);
  },
  async (visit) => {
    await visit.open("Loans");
    await visit.choose("Show", "Overdue");
    await seeListed(visit, "Overdue leaves the Hedge trimmer", ["Hedge trimmer"]);
    await visit.seeText("the open fees are those of all loans", line("Open fees", "€76.50"));
    await visit.pressInRow("Return", "Hedge trimmer");
    await visit.seeText("nothing matches after the return", "No loans match");
    await visit.see(
      "Show is still Overdue",
      () => chosen(visit, "Show"),
      (seen) => seen === "Overdue",
    );
    await visit.seeText("the open fees are €18.00 then", line("Open fees", "€18.00"));
    await visit.seeText("nothing is overdue then", line("Overdue", "0"));
  },
];

/** Text of the chosen option of a native list, or what another kind of list shows. */
function chosen(visit: Visit, label: string): Promise<string> {
  return visit
    .field(label)
    .evaluate(
      (element) =>
        element instanceof HTMLSelectElement ? (element.selectedOptions[0]?.text ?? "") : (element.textContent ?? ""),
      undefined,
      { timeout: 500 },
    );
}

export const request5: Script[] = [
  async (visit) => {
    await addPerson(visit, "Eva Holt");
    await lend(visit, "Laser level", { to: "Dov Marsh", days: 4 });
    await giveBack(visit, "Cordless drill");
    await visit.open("Activity");
    const expected = [
      /^Returned Cordless drill from Ada Brandt$/i,
      /^Lent Laser level to Dov Marsh$/i,
      /^Added \w+ Eva Holt$/i,
    ];
    await visit.see(
      "the three changes are listed, the newest on top",
      async () => (await visit.entries(activity))?.map((entry) => entry["change"] ?? ""),
      (seen) => seen?.length === 3 && expected.every((one, at) => one.test(seen[at] ?? "")),
    );
    await visit.see(
      "each has the book date",
      async () => (await visit.entries(activity))?.map((entry) => entry["date"]),
      (seen) => seen?.length === 3 && seen.every((date) => date === "2026-03-02"),
    );
  },
  async (visit) => {
    await lend(visit, "Block plane", { to: "Dov Marsh", days: 2 });
    await undo(visit);
    await visit.seeEntry("the line is Undone", [activity, "Lent Block plane to Dov Marsh"], { state: "Undone" });
    await visit.open("Loans");
    await visit.seeNoEntry("the loan is gone", loans, { key: "Block plane", anchor: "Cordless drill" });
    await visit.open("Items");
    await visit.seeEntry("the item is Available", [items, "Block plane"], { status: "Available" });
    await openPeople(visit);
    await visit.seeEntry("Dov Marsh has no open loan", [people, "Dov Marsh"], { "open loans": "0" });
  },
  async (visit) => {
    await pay(visit, "Ada Brandt", "5");
    await nextDay(visit, "2026-03-03");
    await undo(visit);
    await visit.seeText("the first undo moves the book date back", bookDate("2026-03-02"));
    await openPeople(visit);
    await visit.seeEntry("Ada Brandt owes €13.00 then", [accounts, "Ada Brandt"], { owes: "€13.00" });
    await undo(visit);
    await openPeople(visit);
    await visit.seeEntry("she owes €18.00 after the second undo", [accounts, "Ada Brandt"], { owes: "€18.00" });
    await visit.restart();
    await visit.open("Activity");
    for (const text of ["Book date moved to 2026-03-03", "Payment of €5.00 from Ada Brandt"]) {
      await visit.seeEntry(`"${text}" is Undone after a restart`, [activity, text], { state: "Undone" });
    }
  },
  async (visit) => {
    await giveBack(visit, "Hedge trimmer");
    await undo(visit);
    await visit.open("Loans");
    await visit.seeEntry("the trimmer is Overdue again", [loans, "Hedge trimmer"], {
      fee: "€58.50",
      status: "Overdue",
    });
    await visit.seeText("the open fees are €76.50 again", line("Open fees", "€76.50"));
    await visit.seeText("one loan is overdue again", line("Overdue", "1"));
    await nextDay(visit, "2026-03-03");
    await visit.open("Loans");
    await visit.seeEntry("its fee runs on", [loans, "Hedge trimmer"], { fee: "€65.75" });
  },
];
