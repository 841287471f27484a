import type { Check, Row } from "./row.ts";

/** A check by its place in the row. */
export interface CheckPlace {
  /** 1-based request. */
  readonly request: number;
  /** 0-based position among the request's checks. */
  readonly check: number;
}

/** The text two checks are compared by: NFKC, lower case, runs of white space to one space, trimmed. */
export function matchKey(check: Pick<Check, "task" | "expectedResult">): string {
  // A normalised text holds no line feed, so this is unambiguous.
  return `${normalise(check.task)}\n${normalise(check.expectedResult)}`;
}

/**
 * The own check that a backward check observes again: among the own checks of the request it was copied from, the lowest
 * that matches; if only that request's own backward check matches, that one is followed to its source. Absent when there is none.
 */
export function findSource(row: Row, backward: Check): CheckPlace | undefined {
  const request = row.requests.find((candidate) => candidate.number === backward.copiedFromRequest);
  if (request === undefined) return undefined;
  const key = matchKey(backward);
  const check = request.checks.findIndex((own) => own.role !== "backward" && matchKey(own) === key);
  if (check >= 0) return { request: request.number, check };
  const earlier = request.checks.find((other) => other.role === "backward" && matchKey(other) === key);
  // A source lies before its copy; without this a check that names its own request would be followed for ever.
  if (earlier?.copiedFromRequest === undefined || earlier.copiedFromRequest >= request.number) return undefined;
  return findSource(row, earlier);
}

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

function normalise(text: string): string {
  // Nearly all texts are plain ASCII with single blanks; a rescore of many runs spends its time here otherwise.
  if (PLAIN.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}
