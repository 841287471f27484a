import type { FlatNotes } from "../trace/flat-verdicts.ts";
import type { TraceNotes } from "../trace/reader.ts";

/** One thing a reader met that a user should know of. */
export interface ReaderNote {
  /** File it is about, relative to the run folder, or as named on the command line. */
  readonly file: string;
  /** For programs: which kind of note this is. */
  readonly kind: string;
  /** 1-based; null where the note is about no single line. */
  readonly line: number | null;
  /** How many there are. */
  readonly count: number;
  /** For people, without the file's name. */
  readonly text: string;
}

type Bare = Omit<ReaderNote, "file">;

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

function lineNotes(notes: TraceNotes | FlatNotes): Bare[] {
  const found: Bare[] = notes.badLines.map(({ line, reason }) => ({
    kind: "bad_line",
    line,
    count: 1,
    text: `broken, left out (${reason})`,
  }));
  if (notes.tornLine !== null) {
    const text = "the last record was cut off and is lost";
    found.push({ kind: "torn", line: notes.tornLine, count: 1, text });
  }
  for (const line of notes.gluedLines) {
    found.push({ kind: "glued", line, count: 1, text: "held more than one record; all were read" });
  }
  for (const line of notes.invalidUtf8Lines) {
    found.push({ kind: "invalid_utf8", line, count: 1, text: "holds bytes that are not UTF-8" });
  }
  return found;
}

type Counted = readonly [kind: string, count: number, say: (count: number) => string];

function tell(counted: readonly Counted[]): Bare[] {
  return counted
    .filter(([, count]) => count > 0)
    .map(([kind, count, say]) => ({ kind, line: null, count, text: say(count) }));
}

function countNotes(notes: TraceNotes | FlatNotes): Bare[] {
  return tell([
    ["nul", notes.nulBytes, (n) => `${plural(n, "NUL byte")} skipped, as a crash of the machine leaves them`],
    ["duplicate", notes.duplicates, (n) => `${plural(n, "exact double")} ignored`],
    ...[...notes.unknownTypes].map(([type, count]): Counted => {
      return ["unknown_type", count, (n) => `${plural(n, "record")} of the unknown type "${type}" skipped`];
    }),
    ...[...notes.unknownValues].map(([value, count]): Counted => {
      return ["unknown_value", count, (n) => `${plural(n, "unknown value")} (${value}) read as "other"`];
    }),
  ]);
}

function traceNotes(notes: TraceNotes): Bare[] {
  const found: Bare[] = notes.disagreements.map(({ line, request, check, dropped, kept }) => ({
    kind: "disagreement",
    line,
    count: 1,
    text: `a second verdict on request ${request}, check ${check} of the same pass: ${kept} counts (the last in the file), not ${dropped}`,
  }));
  return [
    ...found,
    ...tell([
      ["stale", notes.staleEvents, (n) => `${plural(n, "event")} of a process that had lost the app dropped`],
      ["foreign", notes.foreignEvents, (n) => `${plural(n, "event")} of another app dropped`],
      ["older", notes.olderEvents, (n) => `${plural(n, "event")} of an older version read as far as they fit`],
      ["unknown_field", notes.unknownFields, (n) => `${plural(n, "unknown field")} passed over`],
    ]),
  ];
}

/** What a user should know of one file, in the order of its lines where it has one. */
export function describeNotes(file: string, notes: TraceNotes | FlatNotes): ReaderNote[] {
  const found = [...lineNotes(notes), ...countNotes(notes), ...("staleEvents" in notes ? traceNotes(notes) : [])];
  const order = ({ line }: Bare): number => line ?? Number.MAX_SAFE_INTEGER;
  return found.sort((a, b) => order(a) - order(b)).map((note) => ({ file, ...note }));
}
