import { activity, bookDate, fillItem, items, lend, loans, nextDay, openPerson, preview, undo } from "./desk.ts";
import { exportCsv, uploadCsv } from "./files.ts";
import { fitsWindow, isStruckThrough, readColours, readPageColours, rgb, sidewaysPx, type Entry } from "./read-page.ts";
import type { Script } from "./requests-1-3.ts";
import { inRow, visible } from "./match.ts";
import type { Visit } from "./visit.ts";

const header = "code,name,category,fee_per_day";

export const request7: Script[] = [
  async (visit) => {
    const saw = 'Saw, folding "Pro"';
    await visit.open("Items");
    await fillItem(visit, { code: "H-05", name: saw, category: "Hand tools", fee: "2" });
    await visit.press("Add item");
    await visit.seeEntry("the item is added", [items, saw], { code: "H-05" });
    const { name, lines } = await exportCsv(visit);
    const now =
      <T>(value: T) =>
      () =>
        Promise.resolve(value);
    await visit.see("the file is items.csv", now(name), (seen) => seen === "items.csv");
    await visit.see("the first line names the columns", now(lines[0] ?? ""), (seen) => seen === `${header},status`);
    await visit.see("every item has its line", now(lines), (seen) =>
      [
        "P-01,Cordless drill,Power tools,4.50,On loan",
        "G-01,Hedge trimmer,Garden,5.25,On loan",
        "H-01,Claw hammer,Hand tools,1.00,Available",
        "H-02,Block plane,Hand tools,2.50,Available",
        "M-01,Laser level,Measuring,3.75,Available",
        "P-02,Belt sander,Power tools,6.00,Available",
      ].every((one) => seen.includes(one)),
    );
    await visit.see("commas and quotes are quoted", now(lines), (seen) =>
      seen.includes('H-05,"Saw, folding ""Pro""",Hand tools,2.00,Available'),
    );
  },
  async (visit) => {
    await uploadCsv(visit, [
      header,
      'H-04,"Chisel set, 4 pieces",Hand tools,2.20',
      "P-02,Belt sander,Power tools,6.50",
      "M-02,Moisture meter,Measuring,2",
      "Z-09,Mystery box,Garden,abc",
    ]);
    await visit.seeText("the sum is 2 new, 1 changed, 1 rejected", "2 new, 1 changed, 1 rejected");
    await seeResults(visit, {
      "H-04": "New",
      "P-02": "Changed",
      "M-02": "New",
      "Z-09": "Rejected: fee is not a number",
    });
    await visit.press("Confirm import");
    const isImported = async (when: string): Promise<void> => {
      await visit.seeEntry(`the chisel set is listed ${when}`, [items, "Chisel set, 4 pieces"], {
        "fee per day": "€2.20",
      });
      await visit.seeEntry(`the belt sander costs €6.50 ${when}`, [items, "Belt sander"], { "fee per day": "€6.50" });
      await visit.seeEntry(`the moisture meter is listed ${when}`, [items, "Moisture meter"], {
        "fee per day": "€2.00",
      });
      await visit.seeNoEntry(`no Mystery box is listed ${when}`, items, {
        key: "Mystery box",
        anchor: "Moisture meter",
      });
    };
    await isImported("at once");
    await visit.enter();
    await visit.open("Items");
    await isImported("after a reload");
  },
  async (visit) => {
    await uploadCsv(visit, [
      header,
      "H-01,Claw hammer,Hand tools,1.00",
      "H-06,Pipe wrench,Hand tools,2.10",
      "H-07,Spirit lamp,Lighting,1.00",
      "H-08,,Hand tools,1.00",
    ]);
    await visit.seeText("the sum is 1 new, 0 changed, 2 rejected", "1 new, 0 changed, 2 rejected");
    await seeResults(visit, { "H-01": "Unchanged", "H-06": "New" });
    await visit.see(
      "lines 4 and 5 are rejected with their reasons",
      async () => (await visit.entries(preview))?.map((entry) => [entry["line"], entry["result"]].join(" ")),
      (seen) => seen?.includes("4 Rejected: unknown category") === true && seen.includes("5 Rejected: name is missing"),
    );
    await visit.press("Cancel");
    await visit.see(
      "the preview is gone",
      () => visit.entries(preview),
      (seen) => seen === undefined || seen.length === 0,
    );
    await visit.enter();
    await visit.open("Items");
    await visit.seeNoEntry("nothing was imported", items, { key: "Pipe wrench", anchor: "Claw hammer" });
  },
  async (visit) => {
    const text = "Imported 0 new and 1 changed items";
    await uploadCsv(visit, [header, "P-01,Cordless drill,Power tools,5.00"]);
    await visit.press("Confirm import");
    await visit.seeEntry("the drill costs €5.00 a day", [items, "Cordless drill"], { "fee per day": "€5.00" });
    await visit.open("Loans");
    await visit.seeEntry("its loan still costs €18.00", [loans, "Cordless drill"], { fee: "€18.00" });
    await visit.open("Activity");
    await visit.seeEntry("the import is one line", [activity, text], { state: "" });
    await undo(visit);
    await visit.seeEntry("the line is Undone", [activity, text], { state: "Undone" });
    await visit.open("Items");
    await visit.seeEntry("the drill costs €4.50 again", [items, "Cordless drill"], { "fee per day": "€4.50" });
  },
];

async function seeResults(visit: Visit, results: Entry): Promise<void> {
  for (const [code, result] of Object.entries(results)) {
    await visit.seeEntry(`${code} is ${result}`, [preview, code], { result });
  }
}

const white = rgb("#ffffff");

/** An element has this background and white text. */
function seeColours(
  visit: Visit,
  what: string,
  background: string,
): (locator: ReturnType<Visit["row"]>) => Promise<boolean> {
  return (locator) =>
    visit.see(
      `${what} is white on ${background}`,
      () => readColours(locator),
      (seen) => seen.background === rgb(background) && seen.text === white,
    );
}

function seeBadge(visit: Visit, [rowText, status]: readonly [string, string], background: string): Promise<boolean> {
  const badge = visible(visit.row(rowText).getByText(new RegExp(String.raw`^\s*${status}\s*$`, "i")));
  return seeColours(visit, `${status} of ${rowText}`, background)(badge);
}

export const request8: Script[] = [
  async (visit) => {
    const { page } = visit;
    await visit.open("Items");
    await seeColours(visit, "the book date", "#1f3a5f")(visible(page.getByText(bookDate("2026-03-02"))));
    await seeColours(visit, "the link Loans", "#1f3a5f")(visible(page.getByRole("link", { name: /^\W*Loans\W*$/i })));
    await seeColours(visit, "Add item", "#c8553d")(visit.control("Add item"));
    await visit.open("Loans");
    await visit.see(
      "the page is #f6f1e7",
      () => readPageColours(page),
      (seen) => seen.includes(rgb("#f6f1e7")),
    );
    await seeColours(visit, "Lend", "#c8553d")(visit.control("Lend"));
  },
  async (visit) => {
    await visit.open("Items");
    await seeBadge(visit, ["Claw hammer", "Available"], "#2e7d32");
    await seeBadge(visit, ["Cordless drill", "On loan"], "#8a5a00");
    await visit.open("Loans");
    await seeBadge(visit, ["Cordless drill", "Out"], "#1f5fa8");
    await seeBadge(visit, ["Hedge trimmer", "Overdue"], "#b3261e");
    await seeBadge(visit, ["Claw hammer", "Returned"], "#5f6368");
    await openPerson(visit, "Chiara Lind");
    await seeBadge(visit, ["Hedge trimmer", "Overdue"], "#b3261e");
  },
  async (visit) => {
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 844 });
    await visit.open("Loans");
    const rows = [
      ["Cordless drill", "Ada Brandt", "€18.00", "Out"],
      ["Hedge trimmer", "Chiara Lind", "€58.50", "Overdue"],
      ["Claw hammer", "Bela Okafor", "€3.00", "Returned"],
    ];
    await visit.see(
      "all three loans lie inside the window",
      () => fitsWindow(page, rows.flat()),
      (seen) => Object.values(seen).every(Boolean),
    );
    await visit.see(
      "the page cannot be scrolled sideways",
      () => sidewaysPx(page),
      (seen) => seen <= 0,
    );
    const buttons = page.getByRole("button", { name: inRow("Return") }).filter({ visible: true });
    await visit.see(
      "both Return buttons lie inside the window",
      async () => Promise.all((await buttons.all()).map((button) => button.boundingBox({ timeout: 500 }))),
      (boxes) => boxes.length === 2 && boxes.every((box) => box !== null && box.x >= 0 && box.x + box.width <= 391),
    );
    // The innermost element with both the item and a button is its row or card.
    const card = page.locator("*").filter({ hasText: "Cordless drill" }).filter({ has: buttons }).last();
    await visit.press(inRow("Return"), card);
    await visit.seeEntry("Return works there", [["item", "status"], "Cordless drill"], { status: "Returned" });
  },
  async (visit) => {
    const { page } = visit;
    await lend(visit, "Block plane", { to: "Dov Marsh", days: 2 });
    await nextDay(visit, "2026-03-03");
    await undo(visit);
    const [undone, kept] = ["Book date moved to 2026-03-03", "Lent Block plane to Dov Marsh"].map((text) =>
      visible(page.getByText(text)),
    ) as [ReturnType<Visit["row"]>, ReturnType<Visit["row"]>];
    await visit.see("the undone change is struck through", () => isStruckThrough(undone), Boolean);
    await visit.see(
      "the undone change is grey",
      () => readColours(undone),
      (seen) => seen.text === rgb("#6b7280"),
    );
    await visit.see(
      "the other change looks as before",
      async () => ({ ...(await readColours(kept)), isStruck: await isStruckThrough(kept) }),
      (seen) => !seen.isStruck && seen.text !== rgb("#6b7280"),
    );
  },
];
