import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RequestDetail } from "./model.ts";

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#2563c9"/><path d="M3 5h4v6h6" fill="none" stroke="#fff" stroke-width="2"/></svg>\n';

/** Writes the style and the script that all pages of a report share. */
export function writeAssets(out: string): void {
  for (const name of ["report.css", "report.js"]) {
    copyFileSync(fileURLToPath(new URL(name, import.meta.url)), join(out, name));
  }
  writeFileSync(join(out, "icon.svg"), ICON);
}

/** A classic script that hands a detail to the page: a page opened from the disk may load scripts and nothing else. */
export function detailScript(name: string, detail: RequestDetail): string {
  return `evowebDetail(${escapeJson(name)}, ${escapeJson(detail)});\n`;
}

// Line separators end a string for old parsers, and "<" could begin what ends a script.
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
