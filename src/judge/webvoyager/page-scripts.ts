import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";
import type { ListedElement } from "./list-elements.ts";
import type { Box } from "./record.ts";

/** An element that carries a number. */
export interface Mark extends ListedElement {
  readonly boxes: readonly Box[];
}

/** Where to press an element, and what it is. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /** Whether something else lies over it. */
  readonly isIntercepted: boolean;
  readonly tag: string;
  readonly type: string;
  readonly isEditable: boolean;
}

const sources: string[] = [];

// Files of their own: what a transpiler makes of a function need not run in a page. Only the browser ever calls them.
function read(name: string): unknown {
  const source = readFileSync(new URL(`page/${name}.js`, import.meta.url), "utf8");
  sources.push(source);
  return runInThisContext(source);
}

/** What runs in the page. */
export const PAGE_SCRIPTS = {
  collectMarks: read("collect-marks") as () => { readonly elements: unknown; readonly marks: readonly Mark[] },
  findPoint: read("find-point") as (element: unknown) => Point | null,
  awaitQuiet: read("await-quiet") as (options: {
    readonly quietMs: number;
    readonly limitMs: number;
    readonly afterChange: boolean;
  }) => Promise<boolean>,
} as const;

/** SHA-256 (hex) over the scripts: what is marked decides what a model can do. */
export const PAGE_SCRIPTS_HASH = createHash("sha256").update(JSON.stringify(sources)).digest("hex");
