import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { EvowebError, messageOf } from "../errors.ts";

/** A line, or part of one, that could not be read. */
interface BadLine {
  /** 1-based. */
  readonly line: number;
  /** What is wrong with it, in one phrase. */
  readonly reason: string;
}

/** What a reader of JSON lines met besides good records. */
export interface LineNotes {
  /** 1-based number of the last line when it was cut off and dropped; null otherwise. */
  tornLine: number | null;
  /** Broken lines before the last; each lost at least one record. */
  readonly badLines: BadLine[];
  /** Lines that held more than one record, read all the same. */
  readonly gluedLines: number[];
  /** NUL bytes a crash of the machine left behind, skipped. */
  nulBytes: number;
  /** Lines with bytes that are not UTF-8, read with a replacement character. */
  readonly invalidUtf8Lines: number[];
}

/** One JSON object of a file of JSON lines. */
export interface JsonRecord {
  readonly value: Readonly<Record<string, unknown>>;
  /** 1-based. */
  readonly line: number;
  /** The record's own text. */
  readonly text: string;
}

type Visit = (record: JsonRecord) => void;

const BOM = "\uFEFF";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The text of a file, and whether bytes that are not UTF-8 were replaced in it. */
export interface FileText {
  readonly text: string;
  readonly isDamaged: boolean;
}

const REPLACEMENT = "\uFFFD";

/** Decodes the bytes of a file. */
export function decodeBytes(bytes: Buffer): FileText {
  return { text: bytes.toString("utf8"), isDamaged: !isUtf8(bytes) };
}

/** Reads a text file; throws `io`, naming it. */
export function readFileText(path: string): FileText {
  const file = readFileTextIfAny(path);
  if (file === undefined) throw new EvowebError("io", `cannot read ${path}: there is no such file`);
  return file;
}

/** Reads a text file, undefined when there is none; throws `io` when it is there and cannot be read. */
export function readFileTextIfAny(path: string): FileText | undefined {
  try {
    const text = readFileSync(path, "utf8");
    // The character may also stand in the file as such; only the bytes can tell.
    return { text, isDamaged: text.includes(REPLACEMENT) && !isUtf8(readFileSync(path)) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new EvowebError("io", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Notes of a file nobody has found a fault with. */
export function cleanLineNotes(): LineNotes {
  return { tornLine: null, badLines: [], gluedLines: [], nulBytes: 0, invalidUtf8Lines: [] };
}

/**
 * Reads the text of a JSON lines file, calling `visit` for every object in order. Harm is mended where nothing is guessed
 * (records on one line, NUL bytes, a byte order mark), otherwise the line is left out; either way the notes say so; they are
 * added to `notes` and returned.
 */
export function readJsonLines(
  { text, isDamaged }: FileText,
  visit: Visit,
  notes: LineNotes = cleanLineNotes(),
): LineNotes {
  let line = 0;
  let start = text.startsWith(BOM) ? 1 : 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    line += 1;
    readLine({ text: text.slice(start, end), line, isLast: newline === -1, isDamaged }, notes, visit);
    start = end + 1;
  }
  return notes;
}

interface Line {
  readonly text: string;
  readonly line: number;
  readonly isLast: boolean;
  /** True when the file holds bytes that are not UTF-8; the line may. */
  readonly isDamaged: boolean;
}

function readLine(source: Line, notes: LineNotes, visit: Visit): void {
  const { text, line } = source;
  if (source.isDamaged && text.includes(REPLACEMENT)) notes.invalidUtf8Lines.push(line);
  const value = parseObject(text);
  if (value !== null) {
    visit({ value, line, text });
    return;
  }
  const bare = text.replaceAll("\0", "");
  notes.nulBytes += text.length - bare.length;
  if (bare.trim() === "") return;
  mendLine({ ...source, text: bare.trim() }, notes, visit);
}

function mendLine({ text, line, isLast }: Line, notes: LineNotes, visit: Visit): void {
  const { records, hasLoss } = splitRecords(text);
  for (const record of records) visit({ ...record, line });
  if (records.length > 1) notes.gluedLines.push(line);
  if (!hasLoss) return;
  if (isLast) {
    notes.tornLine = line;
  } else if (records.length > 0) {
    notes.badLines.push({ line, reason: "a record was cut off; the others on the line were read" });
  } else {
    notes.badLines.push({ line, reason: text.startsWith("{") ? "not a whole JSON object" : "not a JSON object" });
  }
}

interface Split {
  readonly records: { readonly value: Record<string, unknown>; readonly text: string }[];
  readonly hasLoss: boolean;
}

/** Where the object that starts at `start` ends (excluded), strings skipped; -1 when it never does. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (isInString) {
      if (char === "\\") at += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') {
      isInString = true;
    } else if (char === "{") {
      depth += 1;
    } else if (char === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

// A line of megabytes with braces all over must not cost quadratic time.
const MAX_SCANNED_CHARS = 4_000_000;

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r") at += 1;
  return at;
}

function splitRecords(text: string): Split {
  const records: Split["records"][number][] = [];
  let hasLoss = false;
  let at = 0;
  let scannedChars = 0;
  while (at < text.length && scannedChars < MAX_SCANNED_CHARS) {
    const end = text[at] === "{" ? objectEnd(text, at) : -1;
    const value = end === -1 ? null : parseObject(text.slice(at, end));
    // After a loss, an inner object of the torn record looks like a record too; only one with a type is taken.
    if (value !== null && (!hasLoss || typeof value["type"] === "string")) {
      records.push({ value, text: text.slice(at, end) });
      at = end;
    } else {
      hasLoss = true;
      scannedChars += (end === -1 ? text.length : end) - at;
      const next = text.indexOf("{", at + 1);
      at = next === -1 ? text.length : next;
    }
    at = skipBlanks(text, at);
  }
  return { records, hasLoss: hasLoss || at < text.length };
}
