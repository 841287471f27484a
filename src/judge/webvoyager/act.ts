import type { Page } from "playwright";
import type { WebvoyagerAction } from "../../dataset/webvoyager-transcript.ts";
import { messageOf } from "../../errors.ts";
import type { BrowserSession } from "../browser-session.ts";
import { fillPrompt } from "../prompts.ts";
import { isTextBox } from "./list-elements.ts";
import { frontPage, type Screen } from "./look.ts";
import { PROMPTS } from "./messages.ts";
import { PAGE_SCRIPTS, type Point } from "./page-scripts.ts";
import { limited, PageTooSlow, settle, type PendingRequests } from "./settle.ts";

const CALL_LIMIT_MS = 5000;
const SETTLE_LIMIT_MS = 5000;
/** As long as the published action waits. */
const WAIT_LIMIT_MS = 5000;

/** How an action went: `failed` is answered with the error text and no picture, a note goes into the next observation. */
export type Outcome = { readonly how: "done"; readonly note: string } | { readonly how: "failed" };

const done = (note = ""): Outcome => ({ how: "done", note });
const FAILED: Outcome = { how: "failed" };

/** What actions are done with. */
export interface Hands {
  readonly session: BrowserSession;
  readonly pending: PendingRequests;
  /** What was marked last; null before the first look. */
  readonly screen: Screen | null;
}

async function pointOf(screen: Screen | null, label: number): Promise<Point | null> {
  const element = await screen?.elementAt(label);
  return element == null ? null : element.evaluate(PAGE_SCRIPTS.findPoint);
}

/** Presses an element's middle. Null: there is no such element any more. */
async function press({ session, screen }: Hands, label: number): Promise<Point | null> {
  const point = await limited(pointOf(screen, label), CALL_LIMIT_MS);
  if (point === null || screen === null) return null;
  session.note(`acts on [${label}] <${point.tag}>${point.isIntercepted ? ", which something else covers" : ""}`);
  // A covered element is not pressed: the published protocol goes on without a word.
  if (!point.isIntercepted) await limited(screen.page.mouse.click(point.x, point.y), CALL_LIMIT_MS);
  return point;
}

async function click(hands: Hands, label: number): Promise<Outcome> {
  return (await press(hands, label)) === null ? FAILED : done();
}

async function type(hands: Hands, label: number, text: string): Promise<Outcome> {
  const point = await press(hands, label);
  if (point === null || hands.screen === null) return FAILED;
  if (point.isIntercepted) return done();
  const { keyboard } = hands.screen.page;
  const enter = async (): Promise<void> => {
    if (isTextBox(point) || point.tag === "input" || point.isEditable) {
      await keyboard.press("Control+A");
      await keyboard.press("Backspace");
    }
    await keyboard.type(text);
    await keyboard.press("Enter");
  };
  await limited(enter(), CALL_LIMIT_MS);
  if (isTextBox(point)) return done();
  const kind = point.type === "" ? "" : ` of type "${point.type}"`;
  return done(fillPrompt(PROMPTS.texts["not-a-text-box"], { tag: point.tag, type: kind }));
}

type Scroll = Extract<WebvoyagerAction, { kind: "scroll" }>;

async function scroll({ screen, session }: Hands, { label, direction }: Scroll): Promise<Outcome> {
  const page = screen?.page ?? frontPage(session);
  const height = await limited(page.evaluate<number>("innerHeight"), CALL_LIMIT_MS);
  const distance = Math.round((height * 2) / 3) * (direction === "down" ? 1 : -1);
  if (label === "WINDOW") {
    await limited(page.evaluate(`window.scrollBy({top: ${distance}, behavior: "instant"})`), CALL_LIMIT_MS);
    return done();
  }
  const point = await limited(pointOf(screen, label), CALL_LIMIT_MS);
  if (point === null) return FAILED;
  await limited(page.mouse.move(point.x, point.y), CALL_LIMIT_MS);
  await limited(page.mouse.wheel(0, distance), CALL_LIMIT_MS);
  return done();
}

/** Goes back in the tab; a tab that was opened meanwhile and has no page before is closed instead. */
async function goBack({ session }: Hands): Promise<Outcome> {
  const page = frontPage(session);
  const entries = await limited(page.evaluate<number>("history.length"), CALL_LIMIT_MS);
  if (entries <= 1 && session.context.pages().length > 1) await limited(page.close(), CALL_LIMIT_MS);
  else await limited(page.goBack(), CALL_LIMIT_MS + SETTLE_LIMIT_MS);
  return done();
}

async function perform(action: WebvoyagerAction, hands: Hands): Promise<Outcome> {
  switch (action.kind) {
    case "click":
      return click(hands, action.label);
    case "type":
      return type(hands, action.label, action.text);
    case "scroll":
      return scroll(hands, action);
    case "wait":
    case "answer":
      return done();
    case "goback":
      return goBack(hands);
    case "google":
      return FAILED;
    default:
      return action satisfies never;
  }
}

const hasGone = (page: Page | undefined): boolean => page?.isClosed() === true;

/**
 * Does what a reply asks for and waits for what it sets off. A page that answers no more is `PageTooSlow`; what else goes wrong
 * is `failed`, but for a page that its own doing has closed.
 */
export async function act(action: WebvoyagerAction, hands: Hands): Promise<Outcome> {
  const { session, pending, screen } = hands;
  const before = pending.now();
  let outcome: Outcome;
  try {
    outcome = await perform(action, hands);
  } catch (error) {
    if (error instanceof PageTooSlow || session.end !== undefined) throw error;
    session.note(`cannot ${action.kind}: ${messageOf(error)}`);
    outcome = hasGone(screen?.page) ? done() : FAILED;
  }
  const isWait = action.kind === "wait";
  const limitMs = isWait ? WAIT_LIMIT_MS : SETTLE_LIMIT_MS;
  await settle(frontPage(session), { pending, before, limitMs, afterChange: isWait });
  return outcome;
}
