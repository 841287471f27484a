import { createReadStream } from "node:fs";
import { parse } from "csv-parse";
import { EvowebError, messageOf } from "../errors.ts";
import { CSV_COLUMNS, fromCells } from "./csv-columns.ts";
import type { CsvCells, CsvColumn } from "./csv-columns.ts";
import type { FlatRecord } from "./flat-source.ts";
import type { ProblemList } from "./problems.ts";

const MAX_RECORD_CHARS = 1024 * 1024;
const REQUIRED: readonly CsvColumn[] = ["sampleIndex", "request", "check", "verdict"];

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function checkHeader(path: string, header: readonly string[], problems: ProblemList): void {
  const absent = REQUIRED.filter((name) => !header.includes(name));
  if (absent.length > 0) {
    throw new EvowebError("trace", `${path} line 1: the header lacks ${absent.join(", ")}. See docs/exchange.md.`);
  }
  const known: readonly string[] = CSV_COLUMNS;
  for (const name of header.filter((column) => !known.includes(column))) {
    problems.add({ kind: "unknown_column", file: path, line: 1, text: `the column "${name}" is passed over` });
  }
}

function toRecord(header: readonly string[], record: readonly string[]): Readonly<Record<string, unknown>> {
  const cells = Object.fromEntries(CSV_COLUMNS.map((name) => [name, record[header.indexOf(name)] ?? ""])) as CsvCells;
  return fromCells(cells);
}

function openParser(path: string, problems: ProblemList) {
  const parser = parse({
    bom: true,
    info: true,
    // One odd quote must not take the lines after it along.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_RECORD_CHARS,
    on_skip: (error) => {
      const line = typeof error?.["lines"] === "number" ? { line: error["lines"] } : {};
      problems.add({ kind: "bad_line", file: path, ...line, text: `left out: ${error?.message ?? "no CSV"}` });
      return undefined;
    },
  });
  const file = createReadStream(path);
  file.on("error", (error) => parser.destroy(error));
  return file.pipe(parser);
}

/** Reads the records of a CSV file with a header; bad lines become problems with their line number. Throws `trace` or `io`. */
export async function* readCsv(path: string, problems: ProblemList): AsyncGenerator<FlatRecord> {
  let header: readonly string[] | null = null;
  try {
    const records: AsyncIterable<CsvRecord> = openParser(path, problems);
    for await (const { record, info } of records) {
      if (header === null) {
        header = record.map((name) => name.trim());
        checkHeader(path, header, problems);
      } else if (record.length === header.length) {
        yield { value: toRecord(header, record), line: info.lines };
      } else {
        const text = `left out: it has ${record.length} cells, the header ${header.length}`;
        problems.add({ kind: "bad_line", file: path, line: info.lines, text });
      }
    }
  } catch (error) {
    if (error instanceof EvowebError) throw error;
    throw new EvowebError("io", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (header === null) throw new EvowebError("trace", `${path} is empty: it has no header. See docs/exchange.md.`);
}
