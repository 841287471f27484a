import { cut } from "../page-notes.ts";
import { escapePageText } from "./fence.ts";

/** A part of the window, in CSS pixels from its top left. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A node of Playwright's accessibility snapshot, as far as it is used. */
export interface SnapshotNode {
  readonly role: string;
  readonly name?: string;
  readonly text?: string;
  readonly ref?: string;
  readonly box?: Box;
  /** A string is a run of text. */
  readonly children?: readonly (SnapshotNode | string)[];
  readonly checked?: boolean | "mixed";
  readonly disabled?: boolean;
  readonly expanded?: boolean;
  readonly pressed?: boolean | "mixed";
  readonly selected?: boolean;
  readonly invalid?: unknown;
  readonly cursor?: string;
  readonly placeholder?: string;
}

/** What is known beside the snapshot. */
export interface ViewContext {
  readonly height: number;
  readonly scrollY: number;
  readonly unseen: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
  /** What the explorer typed into fields since the page was opened. */
  readonly typed: ReadonlySet<string>;
  readonly maxChars: number;
}

/** A page as lines for a model. */
export interface View {
  readonly lines: readonly string[];
  /** Elements that can be acted on, by ref, such as `button "Save"`. */
  readonly names: ReadonlyMap<string, string>;
}

interface Placed {
  readonly text: string;
  readonly where: "window" | "below" | "above";
}

const MAX_TEXT = 400;
const MAX_DEPTH = 8;
const STATES = ["checked", "disabled", "expanded", "pressed", "selected", "invalid"] as const;
/** Their names repeat what their children say. */
const NAMED_BY_CONTENT: ReadonlySet<string> = new Set(["row", "rowgroup", "table", "list"]);

const collapse = (text: string): string => text.replaceAll(/\s+/gu, " ").trim();
const shown = (text: string): string => escapePageText(cut(collapse(text), MAX_TEXT));

function statesOf(node: SnapshotNode): string {
  const set = STATES.filter((state) => node[state] !== undefined && node[state] !== false);
  if (node.role === "checkbox" || node.role === "switch" || node.role === "radio") {
    if (node.checked === undefined || node.checked === false) return " not checked";
  }
  return set.length === 0 ? "" : ` ${set.join(" ")}`;
}

function ownWords(node: SnapshotNode): { readonly name: string; readonly text: string } {
  const isRepeated = NAMED_BY_CONTENT.has(node.role) && node.children !== undefined;
  return { name: isRepeated ? "" : shown(node.name ?? ""), text: shown(node.text ?? "") };
}

/** Groups others and says nothing itself. */
const isGrouping = ({ role, cursor }: SnapshotNode): boolean =>
  role === "paragraph" || (role === "generic" && cursor !== "pointer");
const isField = ({ role }: SnapshotNode): boolean => /^(?:textbox|searchbox|combobox|spinbutton)$/u.test(role);

function valueOf({ placeholder }: SnapshotNode, text: string): string {
  if (text !== "") return `: "${text}"`;
  return placeholder === undefined ? "" : ` placeholder "${shown(placeholder)}"`;
}

/** No size, or where no scrolling leads. Options of a closed list have no box and are no less there. */
function isOffPage(node: SnapshotNode, box: Box, scrollY: number): boolean {
  if (node.role === "option" && node.box?.height === 0) return false;
  if (box.width <= 1 || box.height <= 1) return true;
  return box.x + box.width <= 0 || box.y + box.height + scrollY <= 0;
}

class Renderer {
  readonly placed: Placed[] = [];
  readonly names = new Map<string, string>();
  readonly #context: ViewContext;

  constructor(context: ViewContext) {
    this.#context = context;
  }

  visit(
    node: SnapshotNode,
    depth: number,
    at: { readonly x: number; readonly y: number; readonly parent?: Box },
  ): void {
    const box = node.box === undefined ? at.parent : { ...node.box, x: node.box.x + at.x, y: node.box.y + at.y };
    const isShown = this.#add(node, depth, box);
    const inFrame = node.role === "iframe" && box !== undefined;
    const origin = inFrame ? { x: box.x, y: box.y } : { x: at.x, y: at.y };
    const parent = box === undefined ? {} : { parent: box };
    for (const child of node.children ?? []) {
      const node = typeof child === "string" ? { role: "text", text: child } : child;
      this.visit(node, isShown ? depth + 1 : depth, { ...origin, ...parent });
    }
  }

  #add(node: SnapshotNode, depth: number, box: Box | undefined): boolean {
    const { name, text } = ownWords(node);
    if (name === "" && text === "" && isGrouping(node)) return false;
    const what = `${node.role}${name === "" ? "" : ` "${name}"`}`;
    const ref = node.ref === undefined ? "" : `[${node.ref}] `;
    if (node.ref !== undefined)
      this.names.set(node.ref, name === "" && text !== "" ? `${what} "${text.slice(0, 60)}"` : what);
    const line = `${ref}${what}${statesOf(node)}${valueOf(node, text)}${this.#label(node, box)}`;
    this.placed.push({ text: `${" ".repeat(Math.min(depth, MAX_DEPTH))}${line}`, where: this.#where(box) });
    return true;
  }

  #label(node: SnapshotNode, box: Box | undefined): string {
    const { unseen, labels, typed, scrollY } = this.#context;
    const name = collapse(node.name ?? "");
    const text = collapse(node.text ?? "");
    if (name + text === "") return "";
    if (isField(node) && typed.has(text)) return " (typed by you)";
    if (box !== undefined && isOffPage(node, box, scrollY)) return " (not visible)";
    if ([name, text].some((part) => unseen.has(part.slice(0, MAX_TEXT)))) return " (not visible)";
    return text === "" && node.children === undefined && labels.has(name) ? " (label only)" : "";
  }

  #where(box: Box | undefined): Placed["where"] {
    if (box === undefined || (box.width === 0 && box.height === 0)) return "window";
    if (box.y >= this.#context.height) return "below";
    return box.y + box.height <= 0 ? "above" : "window";
  }
}

/** Heads of the parts of a view that a user has to scroll to. */
const HEADS = { window: "", below: "-- below the window --", above: "-- above the window --" } as const;

/** The page as lines, what is in the window first, cut at a whole line with a note of how many were left out. */
export function renderView(nodes: readonly SnapshotNode[], context: ViewContext): View {
  const renderer = new Renderer(context);
  for (const node of nodes) renderer.visit(node, 0, { x: 0, y: 0 });
  const lines: string[] = [];
  const left: string[] = [];
  let chars = 0;
  for (const where of ["window", "below", "above"] as const) {
    const group = renderer.placed.filter((one) => one.where === where);
    if (group.length > 0 && where !== "window") lines.push(HEADS[where]);
    let taken = 0;
    for (const { text } of group) {
      if (chars + text.length > context.maxChars) break;
      chars += text.length + 1;
      lines.push(text);
      taken += 1;
    }
    if (taken < group.length) left.push(`${group.length - taken} more ${where === "window" ? "in the window" : where}`);
  }
  if (left.length > 0) lines.push(`-- ${left.join(", ")}; scroll to see them --`);
  return { lines, names: renderer.names };
}

/** What is new and what is gone between two views, as "+ line" and "- line"; order of lines does not count. */
export function changesBetween(before: readonly string[], after: readonly string[]): string[] {
  const minus = (from: readonly string[], without: readonly string[]): string[] => {
    const counts = new Map<string, number>();
    for (const line of without) counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1);
    return from.filter((line) => {
      const count = counts.get(line.trim()) ?? 0;
      counts.set(line.trim(), count - 1);
      return count <= 0;
    });
  };
  const gone = minus(before, after).map((line) => `- ${line.trim()}`);
  return [...gone, ...minus(after, before).map((line) => `+ ${line.trim()}`)];
}
