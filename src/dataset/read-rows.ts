import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { EvowebError, messageOf } from "../errors.ts";
import { hashOfHashes, hashOfJson, rowHash } from "./content-hash.ts";
import { findingText, type LocatedFinding } from "./finding.ts";
import type { JsonDocument, JsonDocuments } from "./json-documents.ts";
import { inspectRow } from "./parse-row.ts";
import { readDocuments } from "./read-documents.ts";
import type { Row, SampledRow } from "./row.ts";
import { parseApps } from "./select-apps.ts";

/** The rows of a file, and everything wrong or odd in it. */
export interface InspectedRows {
  /** The file that was read, or several with commas; inside a folder this is its `rows.jsonl` or `rows.json`. */
  readonly file: string;
  /** The rows that load, in file order, with their position in the file. */
  readonly sampled: readonly SampledRow[];
  /** How many rows the file has, refused ones too. */
  readonly count: number;
  /** SHA-256 (hex) of what all rows say, in their order, whatever the form of the file. */
  readonly contentHash: string;
  /** All findings of the file, by line. */
  readonly findings: readonly LocatedFinding[];
  /** A finding about a row of this file, with its line and column added. */
  readonly locate: (finding: LocatedFinding) => LocatedFinding;
}

/**
 * Reads rows from a JSONL or JSON file, or from a folder's `rows.jsonl`; in file order.
 *
 * @throws EvowebError `dataset` when the path, the file or any row is unusable; all refusing faults at once, one a line.
 */
export async function readRows(source: string): Promise<readonly Row[]> {
  return requireApps(await inspectRows(source)).map(({ row }) => row);
}

/**
 * The apps that a list such as "1,3-5" names, all when it is absent. Only a fault of a chosen row counts, or one that leaves
 * open which row is at which position.
 *
 * @throws EvowebError `dataset` with every fault that counts, `usage` for a wrong list.
 */
export function requireApps({ file, findings, sampled, count }: InspectedRows, apps?: string): readonly SampledRow[] {
  const refused = findings.filter((finding) => finding.severity === "refused");
  // Text that is not JSON could be any number of rows.
  const hasPositions = refused.every((finding) => finding.sampleIndex !== undefined);
  const chosen = hasPositions ? parseApps(apps, count) : null;
  const counting = refused.filter(({ sampleIndex }) => chosen === null || chosen.has(sampleIndex ?? 0));
  if (counting.length === 0) return sampled.filter(({ sampleIndex }) => chosen?.has(sampleIndex));
  const total = counting.length === 1 ? "1 fault" : `${counting.length} faults`;
  const lines = counting.map((finding) => `  ${findingText(finding)}`);
  const isHinted = hasPositions && apps === undefined && sampled.length > 0;
  const hint = isHinted ? `\nsound rows can be chosen: --apps ${sampled.map((app) => app.sampleIndex).join(",")}` : "";
  throw new EvowebError("dataset", `${file} cannot be loaded: ${total}\n${lines.join("\n")}${hint}`);
}

/**
 * Like `readRows`, but returns the faults inside the file instead of throwing. Several files are one list of rows. With
 * `translate`, each raw row is replaced by what it returns before it is looked at.
 *
 * @throws EvowebError `dataset` when there is no file, it is empty or blank, is no text, or the folder holds no rows.
 */
export async function inspectRows(
  source: string | readonly string[],
  translate: (raw: unknown) => unknown = (raw) => raw,
): Promise<InspectedRows> {
  const files = typeof source === "string" ? [await findRowsFile(source)] : source;
  const { documents, findings } = await readAll(files);
  const inspected = documents.map((document, index) => ({
    document,
    sampleIndex: index + 1,
    ...inspectRow(translate(document.value)),
  }));
  const located = inspected.flatMap(({ document, sampleIndex, rowId, findings }) =>
    findings.map((finding) => ({
      ...finding,
      sampleIndex,
      ...(rowId === undefined ? {} : { rowId }),
      ...document.locate(finding.path),
    })),
  );
  const all = [...findings, ...located, ...findRepeatedIds(inspected)];
  return {
    file: files.join(", "),
    sampled: inspected.flatMap(({ sampleIndex, row }) => (row === undefined ? [] : [{ sampleIndex, row }])),
    count: inspected.length,
    contentHash: hashOfHashes(
      inspected.map(({ row, document }) => (row === undefined ? hashOfJson(translate(document.value)) : rowHash(row))),
    ),
    findings: all.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    locate: (finding) => {
      const home = inspected.find(({ rowId }) => rowId !== undefined && rowId === finding.rowId);
      return { ...finding, ...home?.document.locate(finding.path) };
    },
  };
}

async function readAll(files: readonly string[]): Promise<JsonDocuments> {
  const parts = await Promise.all(files.map(readDocuments));
  // Where there is one file, nobody needs its name on every line.
  const named = (index: number) => (files.length === 1 ? {} : { file: files[index] ?? "" });
  return {
    documents: parts.flatMap(({ documents }, index) =>
      documents.map((document) => ({
        value: document.value,
        locate: (path) => ({ ...named(index), ...document.locate(path) }),
      })),
    ),
    findings: parts.flatMap(({ findings }, index) => findings.map((finding) => ({ ...named(index), ...finding }))),
  };
}

function findRepeatedIds(
  rows: readonly { readonly document: JsonDocument; readonly sampleIndex: number; readonly rowId?: string }[],
): readonly LocatedFinding[] {
  const firstLine = new Map<string, number>();
  return rows.flatMap(({ document, sampleIndex, rowId }) => {
    if (rowId === undefined) return [];
    const place = document.locate(["id"]);
    const earlier = firstLine.get(rowId);
    firstLine.set(rowId, earlier ?? place.line);
    if (earlier === undefined) return [];
    const message = `the id is already used on line ${earlier}`;
    return [{ severity: "refused" as const, path: ["id"], message, sampleIndex, rowId, ...place }];
  });
}

async function findRowsFile(source: string): Promise<string> {
  const info = await stat(source).catch((error: unknown) => {
    const isAbsent = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    const what = isAbsent ? `there is no file or folder ${path.resolve(source)}` : messageOf(error);
    throw new EvowebError("dataset", `cannot read rows from "${source}": ${what}`, { cause: error });
  });
  if (!info.isDirectory()) return source;
  const names = await readdir(source);
  const name = ["rows.jsonl", "rows.json"].find((candidate) => names.includes(candidate));
  if (name !== undefined) return path.join(source, name);
  const others = names.filter((other) => /\.jsonl?$/.test(other)).sort();
  const hint =
    others.length === 0 ? "" : `; did you mean ${others.map((other) => path.join(source, other)).join(" or ")}?`;
  throw new EvowebError("dataset", `the folder ${source} holds no rows: it has no rows.jsonl${hint}`);
}
