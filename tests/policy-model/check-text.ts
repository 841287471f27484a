import type { PageView } from "./page.ts";

/** One statement of an expected result: words that have to be seen together. */
export interface Want {
  readonly text: string;
  /** Words that code can look for: amounts, dates, codes, quoted texts, "Label: value". */
  readonly tokens: readonly string[];
  readonly isNegative: boolean;
}

const TOKENS =
  /"[^"]+"|€-?\d[\d,]*\.\d\d|\b\d{4}-\d\d-\d\d\b|\b[A-Z]{1,3}-\d+\b|\b[A-Z][a-z]+(?: [a-z]+)?: -?\d+\b|\bShowing \d+ of \d+|\b\d+ of \d+\b/gu;
const NEGATIVE = /\b(?:no|not|none|never|nothing|gone|without)\b/iu;

/** The statements of an expected result that name something to look for. */
export function wantsOf(expected: string): readonly Want[] {
  return expected
    .split(/(?<=[^\d])[.;](?:\s|$)|(?<=\d)[.;](?=\s|$)|, and (?=[A-Z]|the |its |it |no )/u)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => ({
      text,
      tokens: [...text.matchAll(TOKENS)].map(([token]) => token.replaceAll('"', "")),
      isNegative: NEGATIVE.test(text),
    }));
}

const fold = (text: string): string => text.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, " ");

/** Names on the page that a text speaks of. */
function named(text: string, pages: readonly PageView[]): readonly string[] {
  const folded = ` ${fold(text).replaceAll(/[^\p{L}\p{N}€.:-]+/gu, " ")} `;
  const names = pages.flatMap((page) => page.filter(({ role }) => CELLS.has(role)).map(({ name }) => fold(name)));
  return [...new Set(names)].filter(
    (name) =>
      name.length > 2 && name.length < 60 && folded.includes(` ${name.replaceAll(/[^\p{L}\p{N}€.:-]+/gu, " ")} `),
  );
}

const CELLS: ReadonlySet<string> = new Set(["cell", "text", "rowheader", "gridcell"]);

/** The texts of a page that belong together: its rows, and each thing outside of rows for itself. */
function groups(page: PageView): readonly string[] {
  const rows = new Map<number, string[]>();
  const single: string[] = [];
  for (const { row, name } of page) {
    if (name === "") continue;
    if (row < 0) single.push(fold(name));
    else rows.set(row, [...(rows.get(row) ?? []), fold(name)]);
  }
  return [...[...rows.values()].map((names) => names.join(" | ")), ...single];
}

/** Where a statement is seen: the last page (0-based) that shows one of its words, and that word; null when one is shown nowhere. */
export function find(want: Want, pages: readonly PageView[]): { readonly page: number; readonly quote: string } | null {
  if (want.tokens.length === 0) return findNames(want, pages);
  const places = want.tokens.map((token) => ({
    quote: token,
    page: pages.findLastIndex((page) => shows(page, want, token)),
  }));
  return places.every(({ page }) => page >= 0) ? (places.toSorted((a, b) => b.page - a.page)[0] ?? null) : null;
}

/** An amount, date or code must stand beside the names it is said of, where the observation knows rows. */
function shows(page: PageView, want: Want, token: string): boolean {
  const hasRows = page.some(({ row }) => row >= 0);
  const owners = hasRows ? named(nearest(want.text, token), [page]) : [];
  return groups(page).some(
    (group) => group.includes(fold(token)) && (!group.includes(" | ") || owners.every((name) => group.includes(name))),
  );
}

/** Names alone: two stand together, three and more stand in this order. */
function findNames(want: Want, pages: readonly PageView[]): { readonly page: number; readonly quote: string } | null {
  const names = named(want.text, pages).toSorted((a, b) => fold(want.text).indexOf(a) - fold(want.text).indexOf(b));
  const quote = names[0];
  if (quote === undefined) return null;
  const page = pages.findLastIndex((one) => {
    if (names.length < 3) return groups(one).some((group) => names.every((name) => group.includes(name)));
    const at = names.map((name) => one.findIndex((seen) => fold(seen.name) === name));
    return at.every((place, index) => place >= 0 && place > (at[index - 1] ?? -1));
  });
  return page < 0 ? null : { page, quote };
}

/** The part of a statement that a word stands in. */
function nearest(text: string, token: string): string {
  const parts = text.split(/, (?!\d)| and /u);
  return parts.find((part) => part.includes(token)) ?? text;
}

/** Whether what a negative statement excludes is on the last page. */
export function isViolated(want: Want, pages: readonly PageView[]): boolean {
  const last = pages.at(-1);
  if (last === undefined) return false;
  const words = want.tokens.length > 0 ? want.tokens.map(fold) : named(want.text, [last]);
  return words.length > 0 && groups(last).some((group) => words.every((word) => group.includes(word)));
}
