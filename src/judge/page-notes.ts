import type { PageNote } from "./browser-session.ts";

const MAX_TEXT = 500;
const MAX_PER_KIND = 100;
const MAX_STEPS = 500;

/** The notes of one session, bounded in number and size: a page can say more than anybody wants to keep. */
export interface PageNotes {
  readonly list: readonly PageNote[];
  add(kind: PageNote["kind"], text: string): void;
  /** Adds a step; the same call again and again, as in polling, makes one note that says how often. */
  addStep(call: string, outcome: string): void;
}

/** Cuts a text and says how much went. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength
    ? text
    : `${text.slice(0, maxLength)}... (${text.length - maxLength} more characters)`;
}

/** Starts the clock of `PageNote.atMs`. */
export function createPageNotes(): PageNotes {
  const startedAt = performance.now();
  const list: PageNote[] = [];
  const counts = new Map<PageNote["kind"], number>();
  let repeated = { call: "", times: 0, note: undefined as PageNote | undefined };
  const add = (kind: PageNote["kind"], text: string): void => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const max = kind === "step" ? MAX_STEPS : MAX_PER_KIND;
    if (count > max + 1) return;
    const atMs = Math.round(performance.now() - startedAt);
    list.push({ atMs, kind, text: count > max ? `further notes of this kind were left out` : cut(text, MAX_TEXT) });
  };
  return {
    list,
    add,
    addStep(call, outcome) {
      const last = list.at(-1);
      if (last !== undefined && last === repeated.note && call === repeated.call) {
        repeated.times += 1;
        repeated.note = { ...last, text: cut(`${call} ${repeated.times} times, last ${outcome}`, MAX_TEXT) };
        list[list.length - 1] = repeated.note;
        return;
      }
      add("step", `${call} ${outcome}`);
      repeated = { call, times: 1, note: list.at(-1) };
    },
  };
}
