import { createReadStream } from "node:fs";
import { EvowebError, messageOf } from "../errors.ts";
import { readJsonLines } from "../trace/jsonl.ts";
import type { FlatRecord } from "./flat-source.ts";
import type { ProblemList } from "./problems.ts";

// Far beyond any verdict; without it a file without line ends would fill the memory.
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** Lines of a text file with their ends; only "\n" ends one. Throws `io`. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = "";
  try {
    for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
      rest += String(chunk);
      for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
        yield rest.slice(0, end + 1);
        rest = rest.slice(end + 1);
      }
      if (rest.length > MAX_LINE_CHARS) throw new EvowebError("trace", `${path} has a line that is too long`);
    }
  } catch (error) {
    if (error instanceof EvowebError) throw error;
    throw new EvowebError("io", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (rest !== "") yield rest;
}

/** Reads the records of a file of flat verdicts in JSON lines; broken lines become problems. Throws `io`. */
export async function* readFlatLines(path: string, problems: ProblemList): AsyncGenerator<FlatRecord> {
  let line = 0;
  for await (const text of readLines(path)) {
    line += 1;
    const records: FlatRecord[] = [];
    const notes = readJsonLines({ text, isDamaged: false }, ({ value }) => records.push({ value, line }));
    yield* records;
    const reason = notes.tornLine === null ? notes.badLines[0]?.reason : "the last record was cut off";
    if (reason !== undefined) problems.add({ kind: "bad_line", file: path, line, text: `left out: ${reason}` });
  }
}
