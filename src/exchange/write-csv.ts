import type { FlatLine } from "../trace/flat-verdicts.ts";
import { CSV_COLUMNS, toCells } from "./csv-columns.ts";

function quote(cell: string): string {
  return /[",\r\n]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Flat lines as CSV with a header. */
export function* csvLines(lines: Iterable<FlatLine>): Generator<string> {
  yield `${CSV_COLUMNS.join(",")}\n`;
  for (const line of lines) {
    const cells = toCells(line);
    yield `${CSV_COLUMNS.map((name) => quote(cells[name])).join(",")}\n`;
  }
}
