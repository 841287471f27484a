import { stripVTControlCharacters } from "node:util";
import type { Dialog, Page } from "playwright";
import type { z } from "zod";
import { EvowebError, messageOf } from "../../errors.ts";
import { settledWithin } from "../browser-process.ts";
import type { BrowserSession } from "../browser-session.ts";
import { cut } from "../page-notes.ts";
import { ACT_LIMIT_MS, HANDLERS, type Hands, type Performed } from "./action-handlers.ts";
import type { Action, DialogAnswer } from "./actions.ts";
import type { Observer } from "./observe-page.ts";

/** What an action gave. Its failure is an answer to the explorer, never an exception. */
export interface Outcome {
  readonly isOk: boolean;
  readonly result: string;
  readonly styles: readonly string[];
}

/** What of a failed call helps to do better: its first line, and what stood in the way. */
function explain(error: unknown): string {
  const lines = stripVTControlCharacters(messageOf(error)).split("\n");
  const cause = lines.find((line) =>
    /intercepts pointer|not enabled|not visible|outside of the viewport|did not find/u.test(line),
  );
  return cut(
    [lines[0], cause]
      .filter((line) => line !== undefined)
      .map((line) => line.trim())
      .join(" - "),
    300,
  );
}

/** Answers the dialogs of one action as it says; without an answer the session accepts them. */
function answerDialogs(session: BrowserSession, answer: z.infer<typeof DialogAnswer> | undefined): () => void {
  if (answer === undefined) return () => undefined;
  const handler = (dialog: Dialog): void => {
    session.note(`answered ${dialog.type()}: ${answer.accept ? "accepted" : "dismissed"} ${answer.text ?? ""}`.trim());
    (answer.accept ? dialog.accept(answer.text) : dialog.dismiss()).catch(() => undefined);
  };
  session.context.on("dialog", handler);
  return () => session.context.off("dialog", handler);
}

/** A page that the action opened is the one a user looks at next. */
function followNewTab(observer: Observer, before: readonly Page[]): string {
  const opened = observer.tabs().find((page) => !before.includes(page));
  if (opened === undefined) return "";
  observer.page = opened;
  return "a new tab opened and is in use";
}

/** Does one action. Rejects for `EvowebError`s and when the session ended; all other failures are the outcome. */
export async function performAction(hands: Hands, action: Action): Promise<Outcome> {
  const { session, observer } = hands;
  const before = observer.tabs();
  const stopAnswering = answerDialogs(session, "dialog" in action ? action.dialog : undefined);
  try {
    const handler = HANDLERS[action.type] as (hands: Hands, action: Action) => Promise<Performed> | string;
    const performed = await handler(hands, action);
    if (!observer.page.isClosed()) await settledWithin(observer.page.waitForLoadState(), ACT_LIMIT_MS);
    const { result, styles } = typeof performed === "string" ? { result: performed, styles: [] } : performed;
    return { isOk: true, result: [result, followNewTab(observer, before)].filter(Boolean).join("; "), styles };
  } catch (error) {
    if (error instanceof EvowebError || session.end !== undefined) throw error;
    return { isOk: false, result: explain(error), styles: [] };
  } finally {
    stopAnswering();
  }
}
