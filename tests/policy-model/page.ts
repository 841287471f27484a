/** One thing on a page, as an observation names it. */
export interface Seen {
  /** What an action calls it by; empty for what cannot be acted on. */
  readonly ref: string;
  /** "link", "button", "textbox", "combobox", "cell", ...; "text" where the observation does not say. */
  readonly role: string;
  readonly name: string;
  /** Which table row or list item it is in; -1 outside of them. */
  readonly row: number;
  /** Labels of a combobox's options. */
  readonly options: readonly string[];
}

/** What one observation shows, in reading order. */
export type PageView = readonly Seen[];

const LINE = /^(\s*)(?:\[(\w+)\] )?([a-z]+)(?::)?(?: "((?:[^"\\]|\\.)*)")?(.*)$/u;

/** Reads the text of a page as the evidence judge shows it. */
export function readSnapshot(text: string): PageView {
  const seen: (Seen & { options: string[] })[] = [];
  let row = -1;
  let rowIndent = -1;
  let rows = 0;
  for (const whole of text.split("\n")) {
    if (whole.startsWith("- ")) continue;
    // A list of changes has lost its indentation: what follows a row is taken to be in it.
    const isChange = whole.startsWith("+ ");
    const line = isChange ? whole.slice(2) : whole;
    const [, space, ref = "", role = "", name = "", rest = ""] = LINE.exec(line) ?? [];
    if (space === undefined || role === "") continue;
    if (role === "option") {
      seen.at(-1)?.options.push(name);
      continue;
    }
    const isOut = isChange ? !/cell|button|link|row/u.test(role) : space.length <= rowIndent;
    if (isOut) [row, rowIndent] = [-1, -1];
    if (role === "row" || role === "listitem" || role === "article") {
      rows += 1;
      [row, rowIndent] = [rows, space.length];
    }
    const value = /: "((?:[^"\\]|\\.)*)"/u.exec(rest)?.[1] ?? "";
    seen.push({ ref, role, name: unquote(value === "" ? name : `${name} ${value}`.trim()), row, options: [] });
  }
  return seen;
}

const unquote = (text: string): string => text.replaceAll(/\\(.)/gu, "$1");

const MARK = /\[(\d+)\]: (?:<(\w+)> )?"([^"]*)"(?:, "([^"]*)")?;/gu;

/** Reads the list of marked elements of the published protocol. */
export function readMarks(text: string): PageView {
  return [...text.matchAll(MARK)].map(([, ref = "", tag = "", name = "", label]) => ({
    ref,
    role: tag === "button" ? "button" : tag === "input" || tag === "textarea" ? "textbox" : "text",
    name: label ?? name,
    row: -1,
    options: [],
  }));
}
