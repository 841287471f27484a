import { showsEffect, showsPersistence } from "./effects.ts";
import { comparable, endsIn, eventsOf, honestLines, occurs, type Citation } from "./seen-text.ts";
import type { KeyPoint, Step } from "./record.ts";

/** Whether a point that a judge called met may count as met. */
export type Proof =
  | { readonly isProven: true; readonly saw: string }
  | { readonly isProven: false; readonly why: string };

/** A point about what the app tells; for others, that the app says it did something does not show that it did. */
const MESSAGE =
  /\b(?:messages?|alerts?|notif\w*|toasts?|errors?|warn\w*|says?|told|confirm\w*|feedback|dialogs?|prompts?)\b/iu;
const isAnnouncement = (line: string): boolean =>
  /^\s*(?:\[\w+\] )?alert\b/u.test(line) ||
  /\bsuccess(?:fully)?\b|\b(?:has|have|was|were) (?:been )?(?:\w+ed|sent|done)\b/iu.test(line) ||
  /\b(?:saved|added|created|updated|deleted|removed|submitted|sent)\b\s*[!.:✓✔]/iu.test(line);

/** What a user did not type and that is written on the screen; typed text is the question and not the answer. */
const shownLines = (step: Step): string[] =>
  honestLines(step).filter((line) => !endsIn(line, "typed by you") && !endsIn(line, "label only"));

function sourceOf(step: Step, kind: Citation["kind"], tag: KeyPoint["tag"]): readonly string[] {
  if (kind === "screenshot") return [];
  if (kind === "style") return step.styles;
  if (kind !== "snapshot") return eventsOf(step, kind);
  const lines = honestLines(step);
  const own = [...lines, ...step.state];
  return tag === "persistence" ? own : own.filter((line) => !endsIn(line, "typed by you"));
}

const isOnlyAnnounced = (quote: string, step: Step): boolean => {
  const lines = honestLines(step);
  const others = lines.filter((line) => !isAnnouncement(line));
  return occurs(quote, lines) && !occurs(quote, [...others, ...step.state]);
};

/** Why a citation does not count; undefined when it does. */
function flawOf(citation: Citation, point: KeyPoint, steps: readonly Step[]): string | undefined {
  const step = steps[citation.step];
  if (step === undefined) return `step ${citation.step} does not exist`;
  if (citation.kind === "screenshot") {
    if (step.picture === null) return `step ${citation.step} has no picture`;
    if (point.tag !== "visual" && !step.hasCanvas) return "a picture alone proves visual points only";
    return undefined;
  }
  if (citation.kind === "style" && point.tag === "static") return "a style proves no text";
  if (citation.kind === "snapshot" && !MESSAGE.test(point.point) && isOnlyAnnounced(citation.quote, step)) {
    return `"${citation.quote.slice(0, 80)}" is only what the app says that it did; look for the thing itself`;
  }
  if (!occurs(citation.quote, sourceOf(step, citation.kind, point.tag))) {
    return `"${citation.quote.slice(0, 80)}" is not in the ${citation.kind} of step ${citation.step}, or cannot count as evidence`;
  }
  return undefined;
}

function lacksText(point: KeyPoint, cited: readonly Step[]): string | undefined {
  const isAboutMessages = MESSAGE.test(point.point);
  const events = ["download", "popup", ...(isAboutMessages ? ["dialog"] : [])];
  const shown = comparable(
    cited
      .flatMap((step) => [
        ...shownLines(step).filter((line) => isAboutMessages || !isAnnouncement(line)),
        ...(/\b(?:title|tab)\b/iu.test(point.point) ? [step.title] : []),
        ...events.flatMap((kind) => eventsOf(step, kind)),
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
  if (point.tag === "interaction" && !seen.some((citation) => showsEffect(point, steps, citation))) {
    return no("no action that worked and changed what is cited comes before the cited evidence");
  }
  if (point.tag === "persistence" && !seen.some((citation) => showsPersistence(point, steps, citation))) {
    return no("the cited evidence is not from after a reload or restart that follows the change");
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
