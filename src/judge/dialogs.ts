import type { EventEmitter } from "node:events";
import type { BrowserContext, Dialog } from "playwright";
import type { PageNotes } from "./page-notes.ts";

/** More dialogs than any check asks for: the page opens them in a loop, and nothing else can happen in it. */
const MAX_DIALOGS = 50;

/** What each kind is answered with when the judge does not answer it; a user who goes on with the task would do the same. */
const DEFAULT_ANSWERS: Readonly<Record<string, string>> = {
  alert: "accepted",
  confirm: "accepted",
  prompt: "accepted with its default text",
  beforeunload: "accepted (leave the page)",
};

/** Whether the judge has a handler of its own. Playwright's pages are event emitters, though their types do not say so. */
const judgeAnswers = (context: BrowserContext, dialog: Dialog): boolean => {
  const count = (emitter: unknown): number => (emitter as EventEmitter).listenerCount("dialog");
  return count(context) > 1 || (dialog.page() !== null && count(dialog.page()) > 0);
};

/** Notes every dialog and answers those that the judge does not; calls `onLoop` once when a page does not stop. */
export function handleDialogs(context: BrowserContext, notes: PageNotes, onLoop: (text: string) => void): void {
  let seen = 0;
  context.on("dialog", (dialog) => {
    seen += 1;
    if (seen > MAX_DIALOGS) {
      if (seen === MAX_DIALOGS + 1) onLoop(`the page opened more than ${MAX_DIALOGS} dialogs`);
      return;
    }
    const what = `${dialog.type()} "${dialog.message()}"`;
    if (judgeAnswers(context, dialog)) {
      notes.add("dialog", `${what}: left to the judge`);
      return;
    }
    notes.add("dialog", `${what}: ${DEFAULT_ANSWERS[dialog.type()] ?? "accepted"}`);
    // The page may be gone by now, and then there is nothing left to answer.
    const answer = dialog.type() === "prompt" ? dialog.accept(dialog.defaultValue()) : dialog.accept();
    answer.catch(() => undefined);
  });
}
