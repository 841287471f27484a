import * as fc from "fast-check";
import type { ChangeRequest, Check, Row } from "../../src/dataset/row.ts";
import type { FlatLine } from "../../src/trace/flat-verdicts.ts";

type FlatCheck = Extract<FlatLine, { type: "check" | "sweep" }>;

/** A row of `length` requests with five checks each (six for the first), every backward check copied from the request before. */
export function makeRow(length: number, edges: readonly (readonly [number, number])[] = []): Row {
  const requests: ChangeRequest[] = [];
  for (let number = 1; number <= length; number += 1) requests.push(makeRequest(number, requests));
  return {
    id: "000001",
    requests,
    dependencies: edges.map(([from, to]) => ({ from, to, what: "data" })),
    globalRules: [],
    raw: {},
  };
}

function makeRequest(number: number, earlier: readonly ChangeRequest[]): ChangeRequest {
  const check = (index: number, role: Check["role"]): Check => ({
    task: `Do step ${index} of request ${number}.`,
    expectedResult: `Outcome ${number}.${index}.`,
    role,
  });
  if (number === 1) {
    return { number, instruction: "Build it.", checks: [0, 1, 2, 3, 4, 5].map((index) => check(index, "functional")) };
  }
  const source = earlier[number - 2]?.checks[0];
  const copy = { ...check(4, "backward"), ...source, role: "backward" as const, copiedFromRequest: number - 1 };
  const own = [0, 1, 2].map((index) => check(index, "functional"));
  return { number, instruction: "Change it.", checks: [...own, check(3, "integration"), copy] };
}

const verdict = fc.constantFrom("YES", "PARTIAL", "NO", "MISSING");
const flag = fc.constantFrom(true, false, null);

function checkLines(row: Row, type: "check" | "sweep"): fc.Arbitrary<FlatCheck[]> {
  const places = row.requests.flatMap(({ number, checks }) =>
    checks.flatMap(({ role }, check) => (type === "sweep" && role === "backward" ? [] : [{ request: number, check }])),
  );
  return fc.tuple(...places.map(() => fc.option(verdict, { freq: 8 }))).map((verdicts) =>
    places.flatMap((place, index) => {
      const seen = verdicts[index];
      return seen === null || seen === undefined
        ? []
        : [{ type, sampleIndex: 1, ...place, verdict: seen, cause: seen === "MISSING" ? "judge_error" : "judged" }];
    }),
  );
}

/** A row and flat verdicts about it, with gaps everywhere, with or without a sweep. */
export const observed: fc.Arbitrary<{ readonly row: Row; readonly lines: readonly FlatLine[] }> = fc
  .tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 })), { maxLength: 6 }),
  )
  .map(([length, edges]) =>
    makeRow(
      length,
      edges.filter(([from, to]) => from < to && to <= length),
    ),
  )
  .chain((row) =>
    fc
      .tuple(
        fc.array(fc.tuple(flag, flag), { minLength: row.requests.length, maxLength: row.requests.length }),
        checkLines(row, "check"),
        fc.oneof(fc.constant([]), checkLines(row, "sweep")),
      )
      .map(([flags, checks, sweep]) => {
        const requests = flags.map(([responded, up], index): FlatLine => {
          return { type: "request", sampleIndex: 1, request: index + 1, responded, up };
        });
        return { row, lines: [{ type: "run" as const, planned: [1] }, ...requests, ...checks, ...sweep] };
      }),
  );
