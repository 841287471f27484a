/**
 * How bad a finding is.
 *
 * - `refused`: the row cannot be run or scored as defined, so it does not load.
 * - `fault`: `evoweb dataset validate` fails; the row still loads, because runs and scores have a defined answer.
 * - `warning`: odd, but allowed.
 */
export type Severity = "refused" | "fault" | "warning";

/** Something wrong or odd in a data set. */
export interface Finding {
  readonly severity: Severity;
  /** Where it is inside its row or file: keys and 0-based positions. */
  readonly path: readonly (string | number)[];
  /** What is wrong, as a sentence without its place. */
  readonly message: string;
}

/** A finding with its place in a file. */
export interface LocatedFinding extends Finding {
  /** Name of the file, as the user gave it. */
  readonly file?: string;
  /** 1-based line of the file. */
  readonly line?: number;
  /** 1-based column, in UTF-16 units; absent where only the line is known. */
  readonly column?: number;
  /** 1-based position of the row in its file; absent where the finding is not about one row. */
  readonly sampleIndex?: number;
  /** Id of the row, where it has one. */
  readonly rowId?: string;
}

/** A path as text, such as `follow_ups[2].ui_instruct[4]`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
}

/** One readable line: file, line, column, row, path, then what is wrong. */
export function findingText(finding: LocatedFinding): string {
  const column = finding.column === undefined ? "" : `, column ${finding.column}`;
  const places = [
    finding.file,
    finding.line === undefined ? undefined : `line ${finding.line}${column}`,
    finding.rowId === undefined ? undefined : `row ${finding.rowId}`,
    finding.path.length === 0 ? undefined : pathText(finding.path),
  ].filter((part) => part !== undefined);
  return `${places.join(", ")}${places.length === 0 ? "" : ": "}${finding.message}`;
}
