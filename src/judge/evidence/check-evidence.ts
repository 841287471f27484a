import { isActing, isRenewing } from "./actions.ts";
import { escapePageText, isSuspicious } from "./fence.ts";
import type { KeyPoint, Step } from "./record.ts";

/** Evidence as the judge cites it. */
export interface Citation {
  readonly step: number;
  readonly kind: "screenshot" | "snapshot" | "console" | "network" | "dialog" | "download" | "popup" | "style";
  readonly quote: string;
}

/** Whether a point that a judge called met may count as met. */
export type Proof =
  | { readonly isProven: true; readonly saw: string }
  | { readonly isProven: false; readonly why: string };

/** Text as it is compared: as the model was shown it, without what models drop or add when they quote. */
function comparable(text: string): string {
  return escapePageText(text.normalize("NFKC"))
    .replaceAll(/\[(?:f\d+)*[ecx]\d+\]/gu, " ")
    .replaceAll(/[\\"“”]/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}

const endsIn = (line: string, label: string): boolean => line.endsWith(`(${label})`);

/** Lines of a step that prove something: seen by a user, and not written for the judge. */
const honestLines = (step: Step): string[] =>
  step.view.filter((line) => !endsIn(line, "not visible") && !isSuspicious(line));

/** What a user did not type and that is written on the screen; typed text is the question and not the answer. */
const shownLines = (step: Step): string[] =>
  honestLines(step).filter((line) => !endsIn(line, "typed by you") && !endsIn(line, "label only"));

const eventsOf = (step: Step, kind: string): string[] =>
  step.events.filter((event) => event.kind === kind && !isSuspicious(event.text)).map(({ text }) => text);

function sourceOf(step: Step, kind: Citation["kind"], tag: KeyPoint["tag"]): readonly string[] {
  if (kind === "screenshot") return [];
  if (kind === "style") return step.styles;
  if (kind !== "snapshot") return eventsOf(step, kind);
  const lines = honestLines(step);
  const own = [...lines, ...step.state];
  return tag === "persistence" ? own : own.filter((line) => !endsIn(line, "typed by you"));
}

function occurs(quote: string, lines: readonly string[]): boolean {
  const wanted = comparable(quote);
  return wanted !== "" && lines.map(comparable).join(" ").includes(wanted);
}

/** Why a citation does not count; undefined when it does. */
function flawOf(citation: Citation, point: KeyPoint, steps: readonly Step[]): string | undefined {
  const step = steps[citation.step];
  if (step === undefined) return `step ${citation.step} does not exist`;
  if (citation.kind === "screenshot") {
    if (step.picture === null) return `step ${citation.step} has no picture`;
    if (point.tag !== "visual" && !step.hasCanvas) return "a picture alone proves visual points only";
    return undefined;
  }
  if (!occurs(citation.quote, sourceOf(step, citation.kind, point.tag))) {
    return `"${citation.quote.slice(0, 80)}" is not in the ${citation.kind} of step ${citation.step}, or cannot count as evidence`;
  }
  return undefined;
}

/** What of a step a user could notice. */
function noticeable(step: Step): string {
  const events = ["dialog", "download", "popup"].flatMap((kind) => eventsOf(step, kind));
  const canvas = step.hasCanvas ? step.pictureHash : null;
  return JSON.stringify([step.path, step.title, honestLines(step).map(comparable), events, step.styles, canvas]);
}

/** Whether step `at` shows anything that was not there before the action of step `from`. */
function hasChanged(steps: readonly Step[], from: number, at: number): boolean {
  const before = steps[from - 1];
  const after = steps.slice(from, at + 1);
  if (before === undefined) return false;
  return after.some((step) => noticeable(step) !== noticeable(before));
}

/** An effect is shown after an action that worked and that changed something, unless nothing was to change. */
function showsEffect(point: KeyPoint, steps: readonly Step[], at: number): boolean {
  return steps
    .slice(0, at + 1)
    .some(({ action, isOk, step }) => isOk && isActing(action) && (point.unchanged || hasChanged(steps, step, at)));
}

function showsPersistence(steps: readonly Step[], at: number): boolean {
  return steps.slice(0, at + 1).some(({ action, isOk, step }) => isOk && step > 0 && isRenewing(action));
}

function lacksText(point: KeyPoint, cited: readonly Step[]): string | undefined {
  const shown = comparable(
    cited
      .flatMap((step) => [
        ...shownLines(step),
        step.title,
        ...["dialog", "download", "popup"].flatMap((kind) => eventsOf(step, kind)),
      ])
      .join(" "),
  );
  return point.texts.find((text) => !shown.includes(comparable(text)));
}

/**
 * Whether the citations of a point prove it: each counted one is in the stored step, effects come after an action that worked and
 * changed something, persistence after a reload, and the words that the check names are on the screen. Console and network lines
 * never prove a point alone, for users do not see them.
 */
export function provePoint(point: KeyPoint, citations: readonly Citation[], steps: readonly Step[]): Proof {
  const flaws = citations.map((citation) => flawOf(citation, point, steps));
  const good = citations.filter((_, index) => flaws[index] === undefined);
  const seen = good.filter(({ kind }) => kind !== "console" && kind !== "network");
  const no = (why: string): Proof => ({ isProven: false, why });
  if (seen.length === 0)
    return no(flaws.find((flaw) => flaw !== undefined) ?? "no evidence of what a user sees was cited");
  const cited = seen.map(({ step }) => step);
  if (point.tag === "interaction" && !cited.some((at) => showsEffect(point, steps, at))) {
    return no("no action that worked and changed something comes before the cited evidence");
  }
  if (point.tag === "persistence" && !cited.some((at) => showsPersistence(steps, at))) {
    return no("the cited evidence is not from after a reload or restart");
  }
  const citedSteps = steps.filter(({ step }) => cited.includes(step));
  const missing = point.tag === "visual" || point.unchanged ? undefined : lacksText(point, citedSteps);
  if (missing !== undefined) return no(`"${missing}" is not on the screen in the cited steps`);
  return { isProven: true, saw: seen.map(({ step, kind, quote }) => `step ${step} ${kind}: ${quote}`).join("; ") };
}

/** Whether the page that was left at the end shows nothing at all. */
export function isBlank(step: Step | undefined): boolean {
  return step === undefined || (shownLines(step).length === 0 && !step.hasCanvas);
}
