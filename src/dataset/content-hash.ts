import { createHash } from "node:crypto";
import type { Row } from "./row.ts";

/**
 * SHA-256 (hex) of what one row says. The order of keys, the form of the file (line ends, byte order mark, JSONL or
 * array) and JSON written as text do not change it.
 */
export function rowHash(row: Row): string {
  return hashOfJson(row.raw);
}

/** SHA-256 (hex) of what the rows say, in their order. */
export function contentHashOf(rows: readonly Row[]): string {
  return hashOfHashes(rows.map(rowHash));
}

/** SHA-256 (hex) over the hashes of rows, in their order. */
export function hashOfHashes(hashes: readonly string[]): string {
  return sha256(hashes.join("\n"));
}

/** SHA-256 (hex) of JSON data, whatever the order of its keys. */
export function hashOfJson(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** JSON with sorted keys: equal data gives equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
