import { findNodeAtLocation, parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";
import type { LocatedFinding } from "./finding.ts";

/** A place in a text file. */
interface TextPlace {
  /** Only where the rows come from several files. */
  readonly file?: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units; absent where only the line is known. */
  readonly column?: number;
}

/** One value of a file of rows, and where its parts stand. */
export interface JsonDocument {
  readonly value: unknown;
  /** Place of the part at `path`, or of its nearest part that exists. */
  locate(path: readonly (string | number)[]): TextPlace;
}

/** The values of a file, and the places where it is not JSON. */
export interface JsonDocuments {
  readonly documents: readonly JsonDocument[];
  readonly findings: readonly LocatedFinding[];
}

/** Reads JSON lines, one JSON array of rows, or a single row spread over lines; the content decides, not the file's name. */
export function readJsonDocuments(text: string): JsonDocuments {
  const first = text.trimStart().slice(0, 1);
  if (first === "[") return readWhole(text);
  // Only \n ends a line: U+2028 and U+2029 are ordinary characters of a JSON text.
  const lines = text.split("\n");
  const firstLine = lines.find((line) => !isBlank(line)) ?? "";
  if (first === "{" && parse(firstLine) === undefined) {
    const whole = readWhole(text);
    // A lone brace opens a row spread over many lines; anything longer is meant as a line of JSONL.
    if (whole.findings.length === 0 || /^\s*\{\s*$/.test(firstLine)) return whole;
  }
  if (first !== "{" && parse(firstLine) === undefined) {
    const line = lines.indexOf(firstLine) + 1;
    const message = `this is no file of rows: JSON begins with { or [, this begins with ${firstLine.trim().slice(0, 20)}`;
    return { documents: [], findings: [{ severity: "refused", path: [], message, line, column: 1 }] };
  }
  return readLines(lines);
}

function readLines(lines: readonly string[]): JsonDocuments {
  const documents: JsonDocument[] = [];
  const findings: LocatedFinding[] = [];
  for (const [index, line] of lines.entries()) {
    if (isBlank(line)) continue;
    const parsed = parse(line);
    if (parsed === undefined) {
      const { place, message } = describeFault(line);
      findings.push({ severity: "refused", path: [], message, ...place, line: index + 1 });
      continue;
    }
    const locate = (path: readonly (string | number)[]) => ({ ...locateIn(line, path), line: index + 1 });
    documents.push({ value: parsed.value, locate });
  }
  return { documents, findings };
}

function readWhole(text: string): JsonDocuments {
  const parsed = parse(text);
  if (parsed === undefined) {
    const { place, message } = describeFault(text);
    const isArray = text.trimStart().startsWith("[");
    const hint = isArray ? "; the file begins with [, so it is read as one JSON array of rows" : "";
    return { documents: [], findings: [{ severity: "refused", path: [], message: `${message}${hint}`, ...place }] };
  }
  const { value } = parsed;
  if (!Array.isArray(value)) {
    return { documents: [{ value, locate: (path) => locateIn(text, path) }], findings: [] };
  }
  let tree: Node | undefined;
  const documents = value.map((row: unknown, index) => ({
    value: row,
    locate: (path: readonly (string | number)[]) => {
      tree ??= parseTree(text);
      return placeOf(text, nearestOffset(tree, [index, ...path]));
    },
  }));
  return { documents, findings: [] };
}

function locateIn(text: string, path: readonly (string | number)[]): TextPlace {
  return placeOf(text, nearestOffset(parseTree(text), path));
}

function nearestOffset(tree: Node | undefined, path: readonly (string | number)[]): number {
  if (tree === undefined) return 0;
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    if (node !== undefined) return node.offset;
  }
  return tree.offset;
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

// JSON.parse decides what is JSON; where it does not say the place, the tolerant parser does.
function describeFault(text: string): { readonly place: TextPlace; readonly message: string } {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const [error] = errors;
  if (error === undefined) return { place: { line: 1 }, message: "is not JSON" };
  const found = text.slice(error.offset, error.offset + Math.max(error.length, 1)).slice(0, 20);
  const before =
    text
      .slice(Math.max(0, error.offset - 20), error.offset)
      .split("\n")
      .at(-1) ?? "";
  const isTrailingComma = /,\s*$/.test(text.slice(0, error.offset)) && /^[}\]]/.test(found);
  const what = isTrailingComma ? `a comma with nothing after it before ${found}` : explain(error, found);
  return {
    place: placeOf(text, error.offset),
    message: `is not JSON: ${what}${before === "" ? "" : `, after ${before}`}`,
  };
}

function explain(error: ParseError, found: string): string {
  if (found.trim() === "") return "ends before it is complete";
  const name = printParseErrorCode(error.error);
  if (name === "EndOfFileExpected") return `something follows the value: ${found}`;
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return `${words}, found ${found}`;
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function isBlank(line: string): boolean {
  return /^[ \t\r]*$/.test(line);
}
