import type { Page, Response } from "playwright";
import { settledWithin } from "./browser-process.ts";
import { messageOf } from "../errors.ts";

/** How long opening an address may take. The app's own resources may never finish, so only the answer itself is insisted on. */
const LIMITS = { answerMs: 15_000, contentMs: 5000, loadMs: 1500 } as const;

/** The address gave no page: no answer, or the connection failed. Not an `EvowebError`: the app is what did not answer. */
export class PageDidNotOpen extends Error {
  override readonly name = "PageDidNotOpen";
}

/** Waits for the parsed document and then for `load`, each within its limit; what is there then is what gets judged. */
export async function settlePage(page: Page): Promise<void> {
  if (!(await settledWithin(page.waitForLoadState("domcontentloaded"), LIMITS.contentMs))) return;
  await settledWithin(page.waitForLoadState("load"), LIMITS.loadMs);
}

/**
 * Runs a navigation, which has to wait for the answer only (`commit`), then settles the page. An address that turns into a download
 * gives null, as Playwright does for a navigation without an answer. Throws `PageDidNotOpen`.
 */
export async function navigate(
  page: Page,
  go: (options: { timeout: number }) => Promise<Response | null>,
): Promise<Response | null> {
  let downloads = 0;
  const count = (): void => {
    downloads += 1;
  };
  page.on("download", count);
  try {
    const response = await go({ timeout: LIMITS.answerMs });
    await settlePage(page);
    return response;
  } catch (error) {
    if (page.isClosed()) throw error;
    // The event comes right after the failed navigation, in the same batch of messages or the next.
    if (downloads === 0) await settledWithin(page.waitForEvent("download", { timeout: 250 }), 300);
    if (downloads > 0) return null;
    throw new PageDidNotOpen(messageOf(error), { cause: error });
  } finally {
    page.off("download", count);
  }
}
