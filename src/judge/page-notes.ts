import type { PageNote } from "./browser-session.ts";

const MAX_TEXT = 500;
const MAX_PER_KIND = 100;
const MAX_STEPS = 500;

/** The notes of one session, bounded in number and size: a page can say more than anybody wants to keep. */
export interface PageNotes {
  readonly list: readonly PageNote[];
  add(kind: PageNote["kind"], text: string): void;
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
  return {
    list,
    add(kind, text) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const max = kind === "step" ? MAX_STEPS : MAX_PER_KIND;
      if (count > max + 1) return;
      const atMs = Math.round(performance.now() - startedAt);
      list.push({ atMs, kind, text: count > max ? `further notes of this kind were left out` : cut(text, MAX_TEXT) });
    },
  };
}
