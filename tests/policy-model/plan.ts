import type { PageView, Seen } from "./page.ts";

/** What to do next on a page. */
export type Act =
  | { readonly type: "click"; readonly on: Seen }
  | { readonly type: "type"; readonly on: Seen; readonly text: string }
  | { readonly type: "select"; readonly on: Seen; readonly option: string }
  | { readonly type: "reload" | "restart" };

/** One thing that a task tells the user to do, in its own words. */
export interface Intent {
  readonly kind: "do" | "visit" | "reload" | "restart";
  readonly text: string;
}

const VERB =
  "press|click|add|lend|return|open|reload|restart|type|choose|record|set|undo|look|read|save|enter|select|export|import|delete|mark|change";

/** The things a task tells the user to do, in order; pages that the expected result speaks of are looked at last. */
export function intentsOf(task: string, expected: string): readonly Intent[] {
  const clauses = task
    .split(new RegExp(`[.;](?:\\s|$)|,? then |, (?=(?:and )?(?:${VERB})\\b)| and (?=(?:${VERB})\\b)`, "iu"))
    .map((text) => text.replace(/^(?:and|then) /iu, "").trim())
    .filter((text) => text !== "");
  const intents = clauses.flatMap((clause, index): Intent[] => {
    const text = /^a second time/iu.test(clause) ? (clauses[index - 1] ?? clause) : clause;
    if (/\breload/iu.test(text)) return [{ kind: "reload", text }];
    if (/\brestart/iu.test(text)) return [{ kind: "restart", text }];
    const times = /\btwice\b/iu.test(text) ? 2 : 1;
    return Array.from({ length: times }, () => ({ kind: "do" as const, text }));
  });
  return [...intents, { kind: "visit", text: expected }];
}

const words = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const mentions = (text: string, name: string): boolean => {
  const wanted = words(name);
  return wanted.length > 0 && ` ${words(text).join(" ")} `.includes(` ${wanted.join(" ")} `);
};

/** Buttons and links that a clause speaks of; the longest name first, and within rows the one beside a name of the clause. */
function pressable(page: PageView, text: string): Seen | null {
  const isVerbOf = (name: string): boolean => {
    const [verb = "", ...rest] = words(name);
    return words(text).includes(verb) && rest.every((word) => words(text).some((other) => other.startsWith(word)));
  };
  const buttons = page.filter(({ role, name }) => role === "button" && (mentions(text, name) || isVerbOf(name)));
  const headers = page.filter(
    ({ role, name }) => role === "columnheader" && /column heading/iu.test(text) && mentions(text, name),
  );
  const found = [...headers, ...buttons].toSorted((a, b) => b.name.length - a.name.length);
  const name = found[0]?.name;
  const same = found.filter((one) => one.name === name);
  if (same.length < 2) return same[0] ?? null;
  const at = page.findIndex((one) => CELL.test(one.role) && one.name.length > 2 && mentions(text, one.name));
  return same.find((button) => page.indexOf(button) > at) ?? same[0] ?? null;
}

const CELL = /cell|text|rowheader/u;

function linkFor(page: PageView, text: string, visited: ReadonlySet<string>): Seen | null {
  const links = page.filter(
    ({ role, name, ref }) =>
      !visited.has(name) && ref !== "" && /link|text/u.test(role) && name.length > 2 && name.length < 30,
  );
  const spoken = links.filter(({ name }) => mentions(text, name));
  const onPage = spoken.filter(({ name }) =>
    new RegExp(`\\b${name} page|page of ${name}|open ${name}`, "iu").test(text),
  );
  return onPage[0] ?? spoken.find(({ role }) => role === "link") ?? null;
}

function fieldActs(page: PageView, text: string): readonly Act[] {
  return page.flatMap((on): Act[] => {
    if (on.role === "combobox") {
      const option = on.options.find((label) => mentions(text, label));
      return option === undefined ? [] : [{ type: "select", on, option }];
    }
    if (!/textbox|spinbutton|searchbox/u.test(on.role) || on.name === "") return [];
    const label = on.name.toLowerCase();
    const value =
      new RegExp(`\\bthe ${label} (?:of )?("[^"]+"|[\\w.-]+(?: [a-z]+)*?)(?=,|\\.$| and the |$| which)`, "iu").exec(
        text,
      )?.[1] ??
      new RegExp(`\\b(\\d+(?:\\.\\d+)?) ${label}\\b`, "iu").exec(text)?.[1] ??
      new RegExp(`\\btype (\\S+) into ${label}`, "iu").exec(text)?.[1] ??
      (label === "amount" ? /\bof (\d+(?:\.\d+)?)/u.exec(text)?.[1] : undefined);
    return value === undefined ? [] : [{ type: "type", on, text: value.replaceAll('"', "") }];
  });
}

/** Most pages that are looked through for something to do. */
const MAX_VISITS = 4;

/** A page that was not looked at yet, when what a clause speaks of is not here. */
function otherPage(page: PageView, visited: ReadonlySet<string>): Seen | null {
  const firstButton = page.findIndex(({ role }) => role === "button");
  const isLink = ({ role, name, ref }: Seen, index: number): boolean =>
    ref !== "" && name.length > 2 && name.length < 20 && (role === "link" || (role === "text" && index < firstButton));
  return visited.size >= MAX_VISITS
    ? null
    : (page.find((one, index) => isLink(one, index) && !visited.has(one.name)) ?? null);
}

/** What to do for an intent on this page: going to the page that it names comes before doing something there. */
export function actsFor(
  intent: Intent,
  page: PageView,
  visited: ReadonlySet<string>,
): { readonly acts: readonly Act[]; readonly isDone: boolean } {
  if (intent.kind === "reload" || intent.kind === "restart") return { acts: [{ type: intent.kind }], isDone: true };
  const link = intent.kind === "do" && visited.size > 0 ? null : linkFor(page, intent.text, visited);
  if (link !== null) return { acts: [{ type: "click", on: link }], isDone: false };
  if (intent.kind === "visit") return { acts: [], isDone: true };
  const fields = fieldActs(page, intent.text);
  const button = pressable(page, intent.text);
  const acts = [...fields, ...(button === null ? [] : [{ type: "click" as const, on: button }])];
  const isWork = new RegExp(`^(?:${VERB})\\b`, "iu").test(intent.text.replace(/^On the \S+(?: \S+)? page /u, ""));
  const elsewhere =
    acts.length > 0 || !isWork || /^(?:open|look|read)/iu.test(intent.text) ? null : otherPage(page, visited);
  return elsewhere === null ? { acts, isDone: true } : { acts: [{ type: "click", on: elsewhere }], isDone: false };
}
