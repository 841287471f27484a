import {
  accounts,
  activity,
  giveBack,
  items,
  line,
  loans,
  openPeople,
  openPerson,
  people,
  setTier,
  undo,
} from "./desk.ts";
import type { Script } from "./requests-1-3.ts";

export const request6: Script[] = [
  async (visit) => {
    const texts: string[] = [];
    const remember = async (): Promise<void> => {
      texts.push(await visit.text());
    };
    await visit.open("Members");
    await visit.fill("Name", "Eva Holt");
    await visit.press("Add member");
    await visit.seeEntry("Add member adds Eva Holt", [people, "Eva Holt"], { "open loans": "0" });
    await remember();
    await visit.open("Loans");
    await visit.seeEntry("the loans have a column Member", [[...loans, "member"], "Cordless drill"], {
      member: "Ada Brandt",
    });
    await visit.see(
      "the form has a list Member",
      () => visit.field("Member").count(),
      (count) => count === 1,
    );
    await remember();
    await visit.open("Activity");
    await visit.seeEntry("the line says member", [activity, "Added member Eva Holt"], { date: "2026-03-02" });
    await remember();
    await visit.open("Items");
    await visit.seeEntry("the items are listed", [items, "Cordless drill"], { status: "On loan" });
    await remember();
    const left = texts.flatMap((text) => text.split("\n")).filter((text) => /borrower/i.test(text));
    await visit.see(
      "the word borrower is nowhere",
      () => Promise.resolve(left),
      (seen) => seen.length === 0,
    );
  },
  async (visit) => {
    await setTier(visit, "Ada Brandt", "Supporter");
    const isSupporter = async (when: string): Promise<void> => {
      await visit.open("Loans");
      await visit.seeEntry(`the drill costs €14.40 ${when}`, [loans, "Cordless drill"], { fee: "€14.40" });
      await openPeople(visit);
      await visit.seeEntry(`she owes €14.40 as a Supporter ${when}`, [accounts, "Ada Brandt"], {
        owes: "€14.40",
        tier: "Supporter",
      });
    };
    await isSupporter("at once");
    await visit.restart();
    await isSupporter("after a restart");
  },
  async (visit) => {
    await setTier(visit, "Bela Okafor", "Supporter");
    await setTier(visit, "Chiara Lind", "Supporter");
    await visit.open("Loans");
    await visit.seeEntry("the trimmer costs €48.00 for a Supporter", [loans, "Hedge trimmer"], { fee: "€48.00" });
    await visit.seeEntry("the returned hammer keeps €3.00", [loans, "Claw hammer"], { fee: "€3.00" });
    await giveBack(visit, "Hedge trimmer");
    await visit.seeEntry("the returned trimmer costs €48.00", [loans, "Hedge trimmer"], {
      fee: "€48.00",
      status: "Returned",
    });
    await setTier(visit, "Chiara Lind", "Standard");
    await visit.open("Loans");
    await visit.seeEntry("it keeps €48.00 when she is Standard again", [loans, "Hedge trimmer"], { fee: "€48.00" });
  },
  async (visit) => {
    await setTier(visit, "Ada Brandt", "Supporter");
    await visit.open("Activity");
    await visit.seeEntry("the change is listed", [activity, "Set Ada Brandt to Supporter"], { state: "" });
    await undo(visit);
    await visit.seeEntry("the line is Undone", [activity, "Set Ada Brandt to Supporter"], { state: "Undone" });
    await openPeople(visit);
    await visit.seeEntry("she is Standard and owes €18.00", [accounts, "Ada Brandt"], {
      owes: "€18.00",
      tier: "Standard",
    });
    await visit.open("Loans");
    await visit.seeText("the open fees are €76.50", line("Open fees", "€76.50"));
    await openPerson(visit, "Ada Brandt");
    await visit.seeText("her page says Owes: €18.00", line("Owes", "€18.00"));
  },
];
