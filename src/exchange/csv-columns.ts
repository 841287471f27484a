import type { FlatLine } from "../trace/flat-verdicts.ts";

/** Columns of the CSV form of flat verdicts, in the order in which they are written. */
export const CSV_COLUMNS = [
  "type",
  "sampleIndex",
  "request",
  "check",
  "verdict",
  "cause",
  "class",
  "responded",
  "up",
  "state",
  "legacy",
  "strict",
  "planned",
  "isolation",
  "observation",
] as const;
export type CsvColumn = (typeof CSV_COLUMNS)[number];

/** The cells of one record by column; an empty text is an absent value. */
export type CsvCells = Readonly<Record<CsvColumn, string>>;

const EMPTY = Object.fromEntries(CSV_COLUMNS.map((name) => [name, ""])) as CsvCells;

const orEmpty = (value: string | number | boolean | null | undefined): string => String(value ?? "");

/** A flat line as cells; rules other than `legacy` and `strict` have no column. */
export function toCells(flat: FlatLine): CsvCells {
  const { type } = flat;
  if (type === "run") {
    const { planned, isolation, observation } = flat;
    return {
      ...EMPTY,
      type,
      planned: planned?.join(" ") ?? "",
      isolation: orEmpty(isolation),
      observation: orEmpty(observation),
    };
  }
  const place = { ...EMPTY, type, sampleIndex: String(flat.sampleIndex), request: String(flat.request) };
  if (type === "request") {
    return { ...place, responded: orEmpty(flat.responded), up: orEmpty(flat.up), state: orEmpty(flat.state) };
  }
  return {
    ...place,
    check: String(flat.check),
    verdict: flat.verdict,
    cause: flat.cause,
    class: orEmpty(flat.class),
    legacy: orEmpty(flat.rules?.["legacy"]),
    strict: orEmpty(flat.rules?.["strict"]),
  };
}

// What is no whole number or flag stays a text, so that the schema names it.
const toNumber = (text: string): number | string => (/^\d{1,9}$/u.test(text) ? Number(text) : text);
const toFlag = (text: string): boolean | null | string => {
  if (text === "") return null;
  return /^(?:true|false)$/iu.test(text) ? text.toLowerCase() === "true" : text;
};

function present(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}

function fromRun({ planned, isolation, observation }: CsvCells): Record<string, unknown> {
  const list = planned === "" ? {} : { planned: planned.trim().split(/\s+/u).map(toNumber) };
  return { type: "run", ...list, ...present({ isolation, observation }) };
}

/** The flat line that cells stand for, not yet validated. A line without a type is a check, judged where it has a verdict. */
export function fromCells(cells: CsvCells): Readonly<Record<string, unknown>> {
  const { type, state, class: name, legacy, strict, verdict } = cells;
  if (type === "run") return fromRun(cells);
  const place = { sampleIndex: toNumber(cells.sampleIndex), request: toNumber(cells.request) };
  if (type === "request") {
    return { type, ...place, responded: toFlag(cells.responded), up: toFlag(cells.up), ...present({ state }) };
  }
  const usual = verdict === "MISSING" ? "not_reached" : "judged";
  const rules = present({ legacy, strict });
  return {
    type: type === "" ? "check" : type,
    ...place,
    check: toNumber(cells.check),
    verdict,
    cause: cells.cause === "" ? usual : cells.cause,
    ...present({ class: name }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
  };
}
