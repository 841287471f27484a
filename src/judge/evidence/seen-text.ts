import { escapePageText, isSuspicious } from "./fence.ts";
import type { Step } from "./record.ts";

/** Evidence as the judge cites it. */
export interface Citation {
  readonly step: number;
  readonly kind: "screenshot" | "snapshot" | "console" | "network" | "dialog" | "download" | "popup" | "style";
  readonly quote: string;
}

/** Text as it is compared: as the model was shown it, without what models drop or add when they quote. */
export function comparable(text: string): string {
  return escapePageText(text.normalize("NFKC"))
    .replaceAll(/\[(?:f\d+)*[ecx]\d+\]/gu, " ")
    .replaceAll(/[\\"“”]/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}

/** Whether a line carries this label of ours. */
export const endsIn = (line: string, label: string): boolean => line.endsWith(`(${label})`);

/** Lines of a step that prove something: seen by a user, and not written for the judge. */
export const honestLines = (step: Step): string[] =>
  step.view.filter((line) => !endsIn(line, "not visible") && !isSuspicious(line));

/** Texts of one kind of event, those written for the judge left out. */
export const eventsOf = (step: Step, kind: string): string[] =>
  step.events.filter((event) => event.kind === kind && !isSuspicious(event.text)).map(({ text }) => text);

/** Whether a quote is in these lines; an empty one is nowhere. */
export function occurs(quote: string, lines: readonly string[]): boolean {
  const wanted = comparable(quote);
  return wanted !== "" && lines.map(comparable).join(" ").includes(wanted);
}
