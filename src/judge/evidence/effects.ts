import { isActing, isRenewing } from "./actions.ts";
import type { KeyPoint, Step } from "./record.ts";
import { comparable, endsIn, eventsOf, honestLines, occurs, type Citation } from "./seen-text.ts";

/** Actions that show another part or state of the page whatever the app does: an effect only where the point is about them. */
const MOVING: Readonly<Record<string, RegExp>> = {
  scroll: /scroll|lazy|infinite/iu,
  resize: /resiz|phone|mobile|tablet|desktop|screen|width|narrow|wide|responsive|viewport|window/iu,
  reload: /reload|refresh/iu,
  restart: /restart/iu,
  back: /back|previous|return|leav/iu,
  goto: /\/(?!$)/u,
  switch_tab: /(?!)/u,
  close_tab: /clos/iu,
};
const isMove = (point: KeyPoint, action: string | null): boolean =>
  action !== null && MOVING[action] !== undefined && !MOVING[action].test(point.point);

const isEmptyField = (line: string): boolean => /^(?:textbox|searchbox|spinbutton|combobox)\b(?!.*: )/u.test(line);

/** Lines whose coming and going somebody did something for: not the fields that are typed into, not our own heads. */
const ownLines = (step: Step): string[] =>
  honestLines(step)
    .filter((line) => !endsIn(line, "typed by you") && !/^-- .* --$/u.test(line))
    .map(comparable)
    .filter((line) => !isEmptyField(line));

const scrollOf = ({ state }: Step): string => state.filter((line) => line.startsWith("scrolled ")).join();
const canvasOf = ({ hasCanvas, pictureHash }: Step): string | null => (hasCanvas ? pictureHash : null);
const without = (lines: readonly string[], others: readonly string[]): string[] =>
  lines.filter((line) => !others.includes(line));

/** Whether `after` differs from `before` in more than what is added; then a quote need not be among the new lines. */
function differsBeyondAdded(before: Step, after: Step): boolean {
  const [was, is] = [ownLines(before), ownLines(after)];
  if (before.path !== after.path || before.title !== after.title || canvasOf(before) !== canvasOf(after)) return true;
  if (JSON.stringify(before.styles) !== JSON.stringify(after.styles) && after.styles.length > 0) return true;
  if (["dialog", "download", "popup"].some((kind) => eventsOf(after, kind).length > 0)) return true;
  if (without(was, is).length > 0) return true;
  // The same lines in another order are an effect, as of sorting, unless the window stands elsewhere.
  const [kept, order] = [was, is.filter((line) => was.includes(line))];
  return scrollOf(before) === scrollOf(after) && JSON.stringify(kept) !== JSON.stringify(order);
}

/** Whether the step at `index` shows an effect, in which what is cited takes part. */
function changedBy(steps: readonly Step[], index: number, { quote, kind }: Citation): boolean {
  const [before, after] = [steps[index - 1], steps[index]];
  if (before === undefined || after === undefined) return false;
  if (differsBeyondAdded(before, after)) return true;
  const added = without(ownLines(after), ownLines(before));
  if (added.length === 0) return false;
  return kind !== "snapshot" || !occurs(quote, [...honestLines(before), ...before.state]);
}

/** An effect is shown after an action that worked and that changed something, unless nothing was to change. */
export function showsEffect(point: KeyPoint, steps: readonly Step[], citation: Citation): boolean {
  const until = steps.slice(0, citation.step + 1);
  const acted = until.filter(({ action, isOk }) => isOk && isActing(action) && !isMove(point, action));
  if (point.unchanged) return acted.length > 0;
  const first = acted[0]?.step;
  if (first === undefined) return false;
  return until.slice(first).some(({ action, step }) => !isMove(point, action) && changedBy(steps, step, citation));
}

/** Whether the app was opened anew after something was done, and what is cited was not entered again since. */
export function showsPersistence(point: KeyPoint, steps: readonly Step[], { step: at, quote }: Citation): boolean {
  const isAnew = ({ action, isOk, result }: Step): boolean =>
    isOk && isRenewing(action) && !result.startsWith("no new page");
  const renewed = steps.slice(0, at + 1).findLastIndex(isAnew);
  const isDone = ({ action, isOk }: Step): boolean =>
    isOk && isActing(action) && !isMove(point, action) && !isRenewing(action);
  if (renewed < 1 || !steps.slice(0, renewed).some(isDone)) return false;
  const entered = steps
    .slice(renewed, at + 1)
    .filter(({ action }) => /^(?:type|set_value|select|press)$/u.test(action ?? ""));
  const words = [...point.texts, quote].map(comparable).filter((word) => word !== "");
  return !entered.some(({ did }) => words.some((word) => comparable(did).includes(word)));
}
