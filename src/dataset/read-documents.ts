import { readFile } from "node:fs/promises";
import { EvowebError } from "../errors.ts";
import { readJsonDocuments, type JsonDocuments } from "./json-documents.ts";
import { isParquet, readParquet } from "./parquet.ts";

/**
 * The rows of one file, JSON lines, one JSON array or Parquet; its content decides, not its name.
 *
 * @throws EvowebError `dataset` when the file is empty, blank, no text, or holds no row.
 */
export async function readDocuments(file: string): Promise<JsonDocuments> {
  const bytes = await readFile(file);
  if (isParquet(bytes)) {
    const rows = await readParquet(file, bytes);
    if (rows.length === 0) throw new EvowebError("dataset", `${file} is a Parquet file without rows`);
    // A Parquet file has no lines; the number of the row is as near.
    return { documents: rows.map((value, index) => ({ value, locate: () => ({ line: index + 1 }) })), findings: [] };
  }
  const text = decode(bytes, file);
  if (/^[ \t\r\n]*$/.test(text)) throw new EvowebError("dataset", `${file} holds only blank lines, no rows`);
  const read = readJsonDocuments(text);
  if (read.documents.length === 0 && read.findings.length === 0) {
    throw new EvowebError("dataset", `${file} holds an empty list, no rows`);
  }
  return read;
}

function decode(bytes: Buffer, file: string): string {
  if (bytes.length === 0) throw new EvowebError("dataset", `${file} is empty (0 bytes), no rows`);
  if (/^(\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1", 0, 2))) {
    throw new EvowebError("dataset", `${file} is UTF-16 text; save it as UTF-8`);
  }
  try {
    // Drops a byte order mark.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new EvowebError("dataset", `${file}, line ${firstBrokenLine(bytes)}: not UTF-8; save the file as UTF-8`, {
      cause: error,
    });
  }
}

function firstBrokenLine(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  let offset = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const length = Buffer.byteLength(line) + 1;
    const original = bytes.subarray(offset, offset + length - 1);
    if (!original.equals(Buffer.from(line))) return index + 1;
    offset += length;
  }
  return 1;
}
