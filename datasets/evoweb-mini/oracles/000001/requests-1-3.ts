import {
  accounts,
  askToLend,
  bookDate,
  fillItem,
  giveBack,
  items,
  lend,
  line,
  loans,
  nextDay,
  openPeople,
  openPerson,
  pay,
  people,
} from "./desk.ts";
import { inRow } from "./match.ts";
import type { Visit } from "./visit.ts";

/** What a user does and looks for in one check. */
export type Script = (visit: Visit) => Promise<void>;

const seeded = [
  ["G-01", "Hedge trimmer", "Garden", "€5.25", "On loan"],
  ["H-01", "Claw hammer", "Hand tools", "€1.00", "Available"],
  ["H-02", "Block plane", "Hand tools", "€2.50", "Available"],
  ["M-01", "Laser level", "Measuring", "€3.75", "Available"],
  ["P-01", "Cordless drill", "Power tools", "€4.50", "On loan"],
  ["P-02", "Belt sander", "Power tools", "€6.00", "Available"],
] as const;

export const request1: Script[] = [
  async (visit) => {
    await visit.open("Items");
    for (const [code, item, category, fee, status] of seeded) {
      const values = { code, item, category, "fee per day": fee, status };
      await visit.seeEntry(`${item} is listed with its values`, [items, item], values);
    }
    await visit.see(
      "six items are listed",
      () => visit.entries(items),
      (seen) => seen?.length === 6,
    );
  },
  async (visit) => {
    const values = {
      code: "H-03",
      item: "Bench vice",
      category: "Hand tools",
      "fee per day": "€1.80",
      status: "Available",
    };
    await visit.open("Items");
    await fillItem(visit, { code: "H-03", name: "Bench vice", category: "Hand tools", fee: "1.8" });
    await visit.press("Add item");
    await visit.seeEntry("the new item is listed", [items, "Bench vice"], values);
    await visit.enter();
    await visit.open("Items");
    await visit.seeEntry("the new item is listed after a reload", [items, "Bench vice"], values);
  },
  async (visit) => {
    const unwanted = { key: "Angle grinder", anchor: "Cordless drill" };
    await visit.open("Items");
    await fillItem(visit, { code: "P-01", name: "Angle grinder", category: "Power tools", fee: "2" });
    await visit.press("Add item");
    const isRefused = await visit.seeText("the page says Code already used", "Code already used");
    const isAbsent = await visit.seeNoEntry("no Angle grinder is listed", items, unwanted);
    if (!isRefused && !isAbsent) return;
    await visit.enter();
    await visit.open("Items");
    await visit.seeNoEntry("no Angle grinder is listed after a reload", items, unwanted);
  },
  async (visit) => {
    await lend(visit, "Laser level", { to: "Dov Marsh", days: 4 });
    await visit.see(
      "the loan is the top row, with its dates and the status Out",
      async () => (await visit.entries(loans))?.[0],
      (top) =>
        top !== undefined &&
        /Laser level/i.test(top["item"] ?? "") &&
        /Dov Marsh/i.test(top["borrower"] ?? top["member"] ?? "") &&
        top["lent on"] === "2026-03-02" &&
        top["due back"] === "2026-03-06" &&
        /^out\b/i.test(top["status"] ?? ""),
    );
    await visit.open("Items");
    await visit.seeEntry("the item is On loan", [items, "Laser level"], { status: "On loan" });
    await openPeople(visit);
    await visit.seeEntry("Dov Marsh has 1 open loan", [people, "Dov Marsh"], { "open loans": "1" });
  },
  async (visit) => {
    await giveBack(visit, "Cordless drill");
    const isReturned = async (when: string): Promise<void> => {
      await visit.seeEntry(`the loan is Returned on the book date ${when}`, [loans, "Cordless drill"], {
        "returned on": "2026-03-02",
        status: "Returned",
      });
      await visit.see(
        `the row has no Return button ${when}`,
        async () => [
          await visit.row("Cordless drill").count(),
          await visit.control(inRow("Return"), visit.row("Cordless drill")).count(),
        ],
        ([rows, buttons]) => rows === 1 && buttons === 0,
      );
      await visit.open("Items");
      await visit.seeEntry(`the item is Available ${when}`, [items, "Cordless drill"], { status: "Available" });
    };
    await isReturned("at once");
    await visit.restart();
    await visit.open("Loans");
    await isReturned("after a restart");
  },
  async (visit) => {
    await visit.press("Next day");
    await visit.seeText("the book date is one day later", bookDate("2026-03-03"));
    await visit.press("Next day");
    await visit.seeText("the book date is two days later", bookDate("2026-03-04"));
    await visit.restart();
    await visit.open("Loans");
    await visit.seeText("the book date is the same after a restart", bookDate("2026-03-04"));
  },
];

export const request2: Script[] = [
  async (visit) => {
    await visit.open("Loans");
    await visit.seeEntry("the drill costs €18.00 and is Out", [loans, "Cordless drill"], {
      fee: "€18.00",
      status: "Out",
    });
    await visit.seeEntry("the trimmer costs €58.50 and is Overdue", [loans, "Hedge trimmer"], {
      fee: "€58.50",
      status: "Overdue",
    });
    await visit.seeEntry("the hammer costs €3.00 and is Returned", [loans, "Claw hammer"], {
      fee: "€3.00",
      status: "Returned",
    });
  },
  async (visit) => {
    await visit.open("Loans");
    await visit.seeText("the open fees are €76.50", line("Open fees", "€76.50"));
    await visit.seeText("one loan is overdue", line("Overdue", "1"));
    await nextDay(visit, "2026-03-03");
    await visit.open("Loans");
    await visit.seeText("the open fees are €88.25 a day later", line("Open fees", "€88.25"));
    await visit.seeEntry("the drill costs €22.50", [loans, "Cordless drill"], { fee: "€22.50" });
    await visit.seeEntry("the trimmer costs €65.75", [loans, "Hedge trimmer"], { fee: "€65.75" });
    await visit.seeEntry("the hammer still costs €3.00", [loans, "Claw hammer"], { fee: "€3.00" });
  },
  async (visit) => {
    await lend(visit, "Block plane", { to: "Dov Marsh", days: 2 });
    await visit.seeEntry("the plane costs one day at once", [loans, "Block plane"], { fee: "€2.50" });
    await visit.seeText("the open fees go up to €79.00", line("Open fees", "€79.00"));
    await giveBack(visit, "Block plane");
    await visit.seeEntry("the returned plane costs one day", [loans, "Block plane"], {
      fee: "€2.50",
      status: "Returned",
    });
    await visit.seeText("the open fees are back at €76.50", line("Open fees", "€76.50"));
  },
  async (visit) => {
    await giveBack(visit, "Hedge trimmer");
    await nextDay(visit, "2026-03-03");
    await visit.open("Loans");
    await visit.seeEntry("the returned trimmer keeps its fee", [loans, "Hedge trimmer"], {
      fee: "€58.50",
      status: "Returned",
    });
    await visit.seeText("the open fees are those of the drill", line("Open fees", "€22.50"));
    await visit.seeText("nothing is overdue", line("Overdue", "0"));
  },
];

export const request3: Script[] = [
  async (visit) => {
    await openPeople(visit);
    for (const [name, owes] of Object.entries({
      "Ada Brandt": "€18.00",
      "Bela Okafor": "€3.00",
      "Chiara Lind": "€58.50",
      "Dov Marsh": "€0.00",
    })) {
      await visit.seeEntry(`${name} owes ${owes}`, [accounts, name], { owes });
    }
  },
  async (visit) => {
    await pay(visit, "Ada Brandt", "18.5");
    await visit.seeText("a payment above the debt is refused", "Amount must be between €0.01 and €18.00");
    await pay(visit, "Ada Brandt", "10");
    const owesEight = async (when: string): Promise<void> => {
      await openPerson(visit, "Ada Brandt");
      await visit.seeText(`her page says Owes: €8.00 ${when}`, line("Owes", "€8.00"));
      await openPeople(visit);
      await visit.seeEntry(`the table says €8.00 ${when}`, [accounts, "Ada Brandt"], { owes: "€8.00" });
    };
    await owesEight("at once");
    await visit.restart();
    await owesEight("after a restart");
  },
  async (visit) => {
    await askToLend(visit, "Laser level", { to: "Chiara Lind", days: 3 });
    await visit.seeText("the refusal names the debt", "Chiara Lind owes €58.50: payment first");
    await visit.enter();
    await visit.open("Loans");
    const isUnlent = await visit.seeNoEntry("no loan is made", loans, { key: "Laser level", anchor: "Cordless drill" });
    if (!isUnlent) return;
    await visit.open("Items");
    await visit.seeEntry("the item stays Available", [items, "Laser level"], { status: "Available" });
  },
  async (visit) => {
    await pay(visit, "Chiara Lind", "20");
    await visit.seeText("she owes €38.50 after the payment", line("Owes", "€38.50"));
    await lend(visit, "Laser level", { to: "Chiara Lind", days: 3 });
    await visit.seeEntry("she gets the Laser level", [loans, "Laser level"], { fee: "€3.75", status: "Out" });
    await openPeople(visit);
    await visit.seeEntry("she owes €42.25 then", [accounts, "Chiara Lind"], { owes: "€42.25" });
  },
];
