// Oracles of the browser cases, loaded through the real oracle judge: `request` is the case's number, `index` its check.
import type { Dialog, Page } from "playwright";
import type { PointResult } from "../../src/judge/judge.ts";
import type { OracleTools } from "../../src/judge/oracle-judge.ts";

type Look = (tools: OracleTools) => Promise<PointResult[]>;

const seen = async (point: string, page: Page, text: string | RegExp): Promise<PointResult> => {
  const met = await page
    .getByText(text)
    .first()
    .waitFor({ timeout: 6000 })
    .then(
      () => true,
      () => false,
    );
  return { point, met, saw: met ? String(text) : "nothing of it" };
};
const heading =
  (name: string): Look =>
  async ({ page, url }) => {
    await page.goto(url);
    return [await seen(`heading ${name}`, page, name)];
  };

/** Reads a page with its closed shadow roots, which only the accessibility tree shows. */
async function treeText(page: Page): Promise<string> {
  const cdp = await page.context().newCDPSession(page);
  const { nodes } = await cdp.send("Accessibility.getFullAXTree");
  return nodes.map((node) => String(node.name?.value ?? "")).join("\n");
}

const deleteMilk =
  (answer: (dialog: Dialog) => Promise<void>, isGone: boolean): Look =>
  async ({ page, url }) => {
    await page.goto(url);
    page.on("dialog", (dialog) => void answer(dialog));
    await page.getByRole("button", { name: "Delete" }).click();
    const count = await page.getByText("Milk").count();
    return [{ point: isGone ? "Milk is gone" : "Milk stays", met: (count === 0) === isGone, saw: `${count} Milk` }];
  };

const looks: Readonly<Record<string, Look>> = {
  "44.0": heading("Live"),
  "49.0": heading("Tasks"),
  "49.1": deleteMilk(async (dialog) => dialog.accept(), true),
  "49.2": deleteMilk(async (dialog) => dialog.dismiss(), false),
  "49.3": async ({ page, url }) => {
    await page.goto(url);
    const asked = page.waitForEvent("dialog").then(async (dialog) => dialog.accept("Bread"));
    await page.getByRole("button", { name: "Rename" }).click();
    await asked;
    return [await seen("the task is called Bread", page, "Bread")];
  },
  "49.4": async ({ page, url }) => {
    await page.goto(`${url}endless.html`);
    await page.getByText("there is no such text").waitFor({ timeout: 60_000 });
    return [];
  },
  "49.5": async ({ page, url }) => {
    await page.goto(url);
    await page.getByRole("button", { name: "Delete" }).click();
    return [{ point: "Milk is gone", met: (await page.getByText("Milk").count()) === 0, saw: "" }];
  },
  "50.0": async ({ page, url }) => {
    await page.goto(url);
    await page.getByLabel("Text").pressSequentially("x");
    await page.reload();
    const value = await page.getByLabel("Text").inputValue();
    return [{ point: "the box is empty", met: value === "", saw: value }];
  },
  "50.1": async ({ page, url }) => {
    const points = await heading("Draft")({ page, url, restart: async () => url });
    await page.getByLabel("Text").pressSequentially("left unsaved");
    return points;
  },
  "52.0": async ({ page, url }) => {
    await page.goto(url);
    await page.getByLabel("Name").first().fill("Ada");
    await page.getByRole("button", { name: "Save" }).first().click();
    return [await seen("Hello Ada", page, "Hello Ada")];
  },
  "52.1": async ({ page, url }) => {
    await page.goto(url);
    // Box and button of the first form come first, then those in the closed root.
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("Tab");
    await page.keyboard.type("Ada");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const text = await treeText(page);
    return [{ point: "Hello Ada", met: text.includes("Hello Ada"), saw: text.slice(0, 200) }];
  },
  "52.2": async ({ page, url }) => {
    await page.goto(url);
    return [await seen("the label", page, "Inside a slot")];
  },
  "53.0": async ({ page, url }) => {
    await page.goto(url);
    const inner = page.frameLocator("iframe").frameLocator("iframe");
    for (let presses = 0; presses < 3; presses += 1) await inner.getByRole("button", { name: "Count" }).click();
    const count = await inner.locator("output").innerText();
    return [{ point: "3 is shown", met: count === "3", saw: count }];
  },
  "55.0": async ({ page, url }) => {
    await page.goto(url);
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Receipt" }).click();
    return [await seen("4711", await opened, /4711/)];
  },
  "55.1": async ({ page, url }) => {
    await page.goto(url);
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Help" }).click();
    return [await seen("a page headed Help", await opened, "Help")];
  },
  "55.2": async ({ page, url }) => {
    await page.goto(url);
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Receipt" }).click();
    await (await opened).getByRole("button", { name: "Close" }).click();
    const told = await seen("the first page is told", page, "receipt closed");
    const receipt = await opened;
    if (!receipt.isClosed()) await receipt.waitForEvent("close");
    const left = page.context().pages().length;
    return [
      told,
      { point: "one page is left", met: left === 1 && page.context().pages()[0] === page, saw: `${left} pages` },
    ];
  },
  "55.3": async ({ page, url }) => {
    await page.goto(url);
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Later" }).click();
    await opened;
    return [await seen("reported as opened", page, "opened")];
  },
  "56.0": async ({ page, url }) => {
    await page.goto(url);
    const started = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const download = await started;
    const chunks = await (await download.createReadStream()).toArray();
    const text = Buffer.concat(chunks as Buffer[]).toString();
    const name = download.suggestedFilename();
    return [{ point: "notes.json with milk", met: name === "notes.json" && text.includes("milk"), saw: name + text }];
  },
  "56.1": async ({ page, url }) => {
    await page.goto(url);
    const started = page.waitForEvent("download");
    await page.getByRole("link", { name: "CSV" }).click();
    const name = (await started).suggestedFilename();
    return [{ point: "notes.csv", met: name === "notes.csv", saw: name }];
  },
  "56.2": async ({ page, url }) => {
    const started = page.waitForEvent("download");
    const response = await page.goto(`${url}direct`);
    const name = (await started).suggestedFilename();
    return [{ point: "a file is downloaded", met: response === null && name === "notes.csv", saw: name }];
  },
  "56.3": async ({ page, url }) => {
    await page.goto(url);
    const started = page.waitForEvent("download");
    await page.getByRole("button", { name: "Big" }).click();
    await started;
    return [await seen("the heading Files", page, "Files")];
  },
  "56.4": async ({ page, url }) => {
    await page.goto(url);
    const started = page.waitForEvent("download");
    await page.getByRole("link", { name: "Odd name" }).click();
    const download = await started;
    return [{ point: "arrives", met: (await download.failure()) === null, saw: download.suggestedFilename() }];
  },
  "58.0": heading("Ledger"),
  "58.1": async ({ page, url }) => {
    await page.goto(url);
    await page.getByRole("button", { name: "Flag row 19500", exact: true }).click({ timeout: 20_000 });
    return [await seen("flagged", page, "Flagged 19500")];
  },
  "59.0": async ({ page, url }) => {
    await page.goto(url);
    await page.getByRole("button", { name: "Open receipt" }).click();
    return [await seen("receipt 4711", page, /4711/)];
  },
  "59.1": async ({ page, url }) => {
    await page.goto(url);
    return [await seen("total", page, "Total 12.50")];
  },
};

/** As a dataset's oracle module does. */
export async function check(request: number, index: number, tools: OracleTools): Promise<PointResult[]> {
  const look = looks[`${request}.${index}`];
  if (look === undefined) throw new Error(`no oracle for ${request}.${index}`);
  return look(tools);
}
