import { join } from "node:path";
import type { ElementHandle, JSHandle, Page } from "playwright";
import { messageOf } from "../../errors.ts";
import type { BrowserSession } from "../browser-session.ts";
import { drawMarks } from "./draw-marks.ts";
import { PAGE_SCRIPTS, type Mark } from "./page-scripts.ts";
import { limited } from "./settle.ts";

const SCRIPT_LIMIT_MS = 10_000;
const PICTURE_LIMIT_MS = 10_000;
const MAX_TRIES = 3;

/** What a call sees. */
export interface Screen {
  readonly page: Page;
  readonly marks: readonly Mark[];
  /** Name of the clean picture in the evidence folder. */
  readonly file: string;
  /** PNG with the marks drawn in. */
  readonly picture: Uint8Array;
  /** The element under a number; null when there is none. */
  elementAt(label: number): Promise<ElementHandle | null>;
}

/** No picture could be taken though the page answers. */
class NoPicture extends Error {
  override readonly name = "NoPicture";
}

/** The page a user would have in front: the tab opened last that is still open. */
export const frontPage = (session: BrowserSession): Page => session.context.pages().at(-1) ?? session.page;

interface Collected {
  readonly found: JSHandle;
  readonly marks: readonly Mark[];
}

async function collect(page: Page): Promise<Collected> {
  const found = await page.evaluateHandle(PAGE_SCRIPTS.collectMarks);
  return { found, marks: await found.evaluate(({ marks }) => marks) };
}

/** A page that is left while it is looked at is looked at again. */
async function collectFromFront(session: BrowserSession): Promise<Collected & { readonly page: Page }> {
  for (let tries = 1; ; tries += 1) {
    const page = frontPage(session);
    try {
      return { page, ...(await limited(collect(page), SCRIPT_LIMIT_MS)) };
    } catch (error) {
      if (tries === MAX_TRIES || session.end !== undefined) throw error;
      session.note(`looks again: ${messageOf(error)}`);
      await limited(frontPage(session).waitForLoadState(), SCRIPT_LIMIT_MS).catch(() => undefined);
    }
  }
}

/**
 * Takes the marks and the picture of the page in front. The marks are drawn onto a copy of the picture; the page itself is not
 * touched. Throws `PageTooSlow`, `NoPicture` and what Playwright throws.
 */
export async function look(session: BrowserSession, call: number, evidenceDir: string): Promise<Screen> {
  const { page, found, marks } = await collectFromFront(session);
  const file = `call-${String(call).padStart(2, "0")}.webp`;
  if (!(await session.screenshot(file, PICTURE_LIMIT_MS))) throw new NoPicture(`no picture for call ${call}`);
  const boxes = marks.map((mark) => mark.boxes);
  const picture = await drawMarks(join(evidenceDir, file), boxes);
  return {
    page,
    marks,
    file,
    picture,
    async elementAt(label) {
      if (label >= marks.length) return null;
      const elements = await found.getProperty("elements");
      return (await elements.getProperty(String(label))).asElement() as ElementHandle | null;
    },
  };
}
