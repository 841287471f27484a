import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowserPool, type BrowserPool } from "../../../src/judge/browser-pool.ts";
import { listElements } from "../../../src/judge/webvoyager/list-elements.ts";
import { look } from "../../../src/judge/webvoyager/look.ts";
import { chromiumForTests, servePages, targetOf, temporaryFolder } from "../browser-support.ts";

const chromium = await chromiumForTests();

describe.skipIf(chromium === undefined)("looking with marks", () => {
  let pool: BrowserPool;
  beforeAll(async () => {
    if (chromium !== undefined) pool = await openBrowserPool({ chromium });
  });
  afterAll(async () => pool[Symbol.asyncDispose]());

  test("marks what the published protocol marks, innermost only, and leaves the page as it was", async () => {
    await using app = await servePages("marks");
    await using way = await targetOf(app);
    await using folder = await temporaryFolder();
    const viewport = { width: 1024, height: 768 };
    await using session = await pool.openSession(way.target, { evidenceDir: folder.path, viewport });
    await session.page.goto(way.target.url);
    const before = await session.page.content();
    const screen = await look(session, 1, folder.path);
    // Playwright hides carets while it takes a picture, which leaves empty attributes.
    expect((await session.page.content()).replaceAll(' style=""', "")).toBe(before);
    expect(screen.marks.map(({ tag, text }) => `${tag} ${text}`)).toEqual([
      "button Save now",
      "a Inside a link",
      "div Property",
      "div Role with pointer",
      "h2 Card heading",
      "button Card button",
      "select OneTwo",
      "input ",
      "input ",
      "iframe ",
      "li Item",
    ]);
    expect(listElements(screen.marks)).toBe(
      [
        '[0]: <button> "Save now";',
        '[1]: "Inside a link";',
        '[2]: "Property";',
        '[3]: "Role with pointer";',
        '[4]: "Card heading";',
        '[5]: <button> "Card button";',
        '[6]: "OneTwo";',
        '[7]: <input> "Name";',
        '[10]: "Item";',
      ].join("\t"),
    );
    expect(await (await screen.elementAt(5))?.textContent()).toBe("Card button");
    expect(await screen.elementAt(11)).toBeNull();
    const clean = await sharp(join(folder.path, screen.file)).raw().toBuffer({ resolveWithObject: true });
    const marked = await sharp(screen.picture).raw().toBuffer({ resolveWithObject: true });
    expect(clean.info).toMatchObject({ width: 1024, height: 768 });
    expect(marked.info).toMatchObject({ width: 1024, height: 768, channels: 3 });
    // The corner of the list item's label is black on the copy only.
    const box = screen.marks[10]?.boxes[0];
    const corner = (Math.round(box?.top ?? 0) - 15) * 1024 + Math.round(box?.left ?? 0) + 3;
    expect([...marked.data.subarray(corner * 3, corner * 3 + 3)]).toEqual([0, 0, 0]);
    const { channels } = clean.info;
    expect([...clean.data.subarray(corner * channels, corner * channels + 3)]).toEqual([255, 255, 255]);
  });
});
