import type { Locator } from "playwright";
import type { BrowserSession } from "../browser-session.ts";
import { cut } from "../page-notes.ts";
import { PRESETS, type Action } from "./actions.ts";
import { UPLOADS } from "./fixtures.ts";
import type { Look, Observer } from "./observe-page.ts";

/** How long an element may take to be ready; what a ref names was there a moment ago. */
export const ACT_LIMIT_MS = 2000;
const FIND_LIMIT_MS = 5000;

/** What actions are done with. */
export interface Hands {
  readonly session: BrowserSession;
  readonly observer: Observer;
  /** What was seen last: the refs come from it. */
  readonly look: Look;
  /** Addresses that may be opened by hand. */
  mayOpen(path: string): boolean;
  /** The app's address, which a restart may change. */
  url(): string;
  /** As in `JudgeTask`; the new address becomes `url()`. */
  restart(): Promise<void>;
}

/** What a handler gives: what is worth telling, and styles that were asked for. */
export type Performed = string | { readonly result: string; readonly styles: readonly string[] };
type Of<Type extends Action["type"]> = Extract<Action, { type: Type }>;

/** An action that cannot be done as it was asked for; its text goes to the explorer. */
class NotPossible extends Error {}

function middleOf(hands: Hands, ref: string): { x: number; y: number } | undefined {
  const box = hands.look.pseudo.get(ref)?.box;
  return box === undefined ? undefined : { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

function locate(hands: Hands, ref: string): Locator {
  if (hands.look.pseudo.has(ref)) throw new NotPossible(`${ref} can only be clicked, typed into or dragged`);
  if (!hands.look.names.has(ref)) throw new NotPossible(`${ref} is not on the page; use a ref of the newest look`);
  return hands.observer.page.getByRef(ref);
}

const limited = { timeout: ACT_LIMIT_MS };

async function click(hands: Hands, { type, ref }: Of<"click" | "double_click">): Promise<Performed> {
  const { page } = hands.observer;
  const middle = middleOf(hands, ref);
  const isDouble = type === "double_click";
  if (middle !== undefined) await page.mouse.click(middle.x, middle.y, { clickCount: isDouble ? 2 : 1 });
  else if (isDouble) await locate(hands, ref).dblclick(limited);
  else await locate(hands, ref).click(limited);
  return "";
}

/** Remembers what the field with the focus holds now: what was typed bit by bit is typed as well. */
async function noteTyped({ observer }: Hands): Promise<void> {
  const script = `(() => { const el = document.activeElement; return el && typeof el.value === "string" ? el.value : ""; })()`;
  const value = await observer.page.evaluate(script).catch(() => "");
  if (typeof value === "string" && value !== "") observer.typed.add(value.replaceAll(/\s+/gu, " ").trim());
}

async function type(hands: Hands, { ref, text, clear, submit }: Of<"type">): Promise<Performed> {
  const { page, typed } = hands.observer;
  const middle = middleOf(hands, ref);
  typed.add(text.replaceAll(/\s+/gu, " ").trim());
  if (middle !== undefined) {
    await page.mouse.click(middle.x, middle.y);
    if (clear) await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
  } else if (clear) await locate(hands, ref).fill(text, limited);
  else await locate(hands, ref).pressSequentially(text, limited);
  await noteTyped(hands);
  if (submit) await page.keyboard.press("Enter");
  return "";
}

async function scroll(hands: Hands, { ref, text, dx = 0, dy = 0 }: Of<"scroll">): Promise<Performed> {
  const { page } = hands.observer;
  if (text !== undefined) {
    await page.getByText(text).first().scrollIntoViewIfNeeded({ timeout: FIND_LIMIT_MS });
    return "";
  }
  const size = page.viewportSize() ?? PRESETS.desktop;
  if (ref !== undefined && !hands.look.pseudo.has(ref)) await locate(hands, ref).hover(limited);
  else await page.mouse.move(size.width / 2, size.height / 2);
  await page.mouse.wheel(dx, dy);
  return "";
}

async function drag(hands: Hands, { from, to }: Of<"drag">): Promise<Performed> {
  const start = middleOf(hands, from);
  const end = middleOf(hands, to);
  if (start === undefined && end === undefined) {
    await locate(hands, from).dragTo(locate(hands, to), limited);
    return "";
  }
  const { mouse } = hands.observer.page;
  const a = start ?? (await centre(locate(hands, from)));
  const b = end ?? (await centre(locate(hands, to)));
  await mouse.move(a.x, a.y);
  await mouse.down();
  await mouse.move(b.x, b.y, { steps: 8 });
  await mouse.up();
  return "";
}

async function centre(locator: Locator): Promise<{ x: number; y: number }> {
  const box = await locator.boundingBox(limited);
  if (box === null) throw new NotPossible("the element cannot be seen");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function clickAt(hands: Hands, { x, y, ref }: Of<"click_at">): Promise<Performed> {
  const { page } = hands.observer;
  if (ref === undefined) {
    await page.mouse.click(x, y);
    return "";
  }
  const box = hands.look.pseudo.get(ref)?.box ?? (await locate(hands, ref).boundingBox(limited));
  if (box === null) throw new NotPossible("the element cannot be seen");
  await page.mouse.click(box.x + x, box.y + y);
  return "";
}

async function upload(hands: Hands, { ref, file }: Of<"upload">): Promise<Performed> {
  const given = await UPLOADS[file]();
  const { page } = hands.observer;
  // A button that opens the chooser is as good as the input itself, which many pages hide.
  const chooser = page.waitForEvent("filechooser", limited).catch(() => undefined);
  await locate(hands, ref).click(limited);
  const opened = await chooser;
  if (opened === undefined) throw new NotPossible("no file chooser opened");
  await opened.setFiles(given);
  return `uploaded ${given.name}`;
}

async function probe(hands: Hands, { ref, properties }: Of<"probe_style">): Promise<Performed> {
  const locator = locate(hands, ref);
  const read = (el: unknown, names: readonly string[]): string => {
    const page = globalThis as unknown as {
      getComputedStyle: (of: unknown) => { getPropertyValue: (name: string) => string };
    };
    const style = page.getComputedStyle(el);
    return names.map((name) => `${name}: ${style.getPropertyValue(name)}`).join("; ");
  };
  const found = cut(await locator.evaluate(read, properties, limited), 600);
  return { result: found, styles: [`${ref} ${hands.look.names.get(ref) ?? ""} ${found}`] };
}

async function goTo(hands: Hands, { path }: Of<"goto">): Promise<Performed> {
  const url = new URL(path, hands.url());
  if (url.origin !== new URL(hands.url()).origin) throw new NotPossible("only addresses of the app can be opened");
  if (!hands.mayOpen(`${url.pathname}${url.search}${url.hash}`)) {
    throw new NotPossible("neither the check nor the app has named this address; use the app's own controls");
  }
  const response = await hands.observer.page.goto(url.href);
  return response === null ? "no new page (a download, or the same page)" : `status ${response.status()}`;
}

async function waitFor(hands: Hands, { text, ms = FIND_LIMIT_MS }: Of<"wait_for">): Promise<Performed> {
  const { page } = hands.observer;
  if (text === undefined) await page.waitForTimeout(ms);
  else await page.getByText(text).first().waitFor({ timeout: ms });
  return "";
}

async function closeTab({ observer }: Hands): Promise<Performed> {
  if (observer.tabs().length < 2) throw new NotPossible("there is only one tab");
  await observer.page.close();
  observer.page = observer.tabs().at(-1) ?? observer.page;
  return "";
}

function switchTab({ observer }: Hands, { tab }: Of<"switch_tab">): string {
  const page = observer.tabs()[tab - 1];
  if (page === undefined) throw new NotPossible(`there are ${observer.tabs().length} tabs`);
  observer.page = page;
  return "";
}

/** Actions that go to another document or away from this one. */
async function navigate(hands: Hands, action: Of<"back" | "reload" | "restart" | "goto">): Promise<Performed> {
  const { page, typed } = hands.observer;
  typed.clear();
  if (action.type === "goto") return goTo(hands, action);
  if (action.type === "back")
    return (await page.goBack()) === null ? "there was no page to go back to, or it was kept" : "";
  if (action.type === "restart") {
    await hands.restart();
    await page.goto(hands.url());
    return "the server was stopped and started, and the app opened again";
  }
  await page.reload();
  return "";
}

/** Actions on one element that take nothing but a value. */
async function useElement(hands: Hands, action: Of<"hover" | "check" | "select" | "set_value">): Promise<Performed> {
  const locator = locate(hands, action.ref);
  if (action.type === "hover") await locator.hover(limited);
  else if (action.type === "check") await locator.setChecked(action.checked, limited);
  else if (action.type === "select") await locator.selectOption(action.option, limited);
  else {
    hands.observer.typed.add(action.value);
    await locator.fill(action.value, limited);
  }
  return "";
}

async function press(hands: Hands, { key, ref }: Of<"press">): Promise<Performed> {
  if (ref === undefined) await hands.observer.page.keyboard.press(key);
  else await locate(hands, ref).press(key, limited);
  if (key.length === 1) await noteTyped(hands);
  return "";
}

/** How each action is done. They reject with what Playwright rejects with, or with words for the explorer. */
export const HANDLERS: {
  readonly [Type in Action["type"]]: (hands: Hands, action: Of<Type>) => Promise<Performed> | string;
} = {
  click,
  double_click: click,
  hover: useElement,
  check: useElement,
  select: useElement,
  set_value: useElement,
  type,
  press,
  drag,
  scroll,
  upload,
  back: navigate,
  reload: navigate,
  restart: navigate,
  goto: navigate,
  switch_tab: switchTab,
  close_tab: closeTab,
  wait_for: waitFor,
  resize: async ({ observer }, { preset }) => {
    await observer.page.setViewportSize(PRESETS[preset]);
    return `${PRESETS[preset].width} x ${PRESETS[preset].height}`;
  },
  click_at: clickAt,
  probe_style: probe,
  look: () => "",
  finish: () => "",
};
