import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Row } from "../../src/dataset/row.ts";
import { decodeBytes } from "../../src/trace/jsonl.ts";
import { scoreObserved } from "../../src/scoring/score.ts";
import type { Score } from "../../src/scoring/score.ts";
import type { FlatLine } from "../../src/trace/flat-verdicts.ts";
import { parseFlatVerdicts } from "../../src/trace/flat-verdicts.ts";
import { makeRow, observed } from "./observed-arbitrary.ts";

function score(row: Row, lines: readonly FlatLine[]): Score {
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { apps } = parseFlatVerdicts(decodeBytes(bytes), "verdicts.jsonl");
  return scoreObserved({ rows: [{ sampleIndex: 1, row }], apps, isolation: null, observation: null });
}

const GRADES = ["grade", "gradeUngated", "gradeDag", "gradeStrict", "gradeLenient", "built"] as const;
const gradeOf = (row: Row, lines: readonly FlatLine[]): number => score(row, lines).apps[0]?.primary.grade ?? -1;

/** Every number of a score with the path it stands at. */
function numbersOf(value: unknown, path = ""): [string, number][] {
  if (typeof value === "number") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => numbersOf(part, `${path}.${key}`));
}

const BETTER: Readonly<Record<string, "PARTIAL" | "YES">> = { NO: "PARTIAL", PARTIAL: "YES" };

describe("for any verdicts", () => {
  it("every grade lies between its completions", () => {
    fc.assert(
      fc.property(observed, ({ row, lines }) => {
        const [app] = score(row, lines).apps;
        for (const name of GRADES) {
          const [lo, primary, hi] = [app?.lo[name], app?.primary[name], app?.hi[name]].map((value) => value ?? -1);
          expect(lo).toBeLessThanOrEqual((primary ?? 0) + 1e-9);
          expect(primary).toBeLessThanOrEqual((hi ?? 0) + 1e-9);
        }
        expect(app?.lo.survival).toBeLessThanOrEqual(app?.primary.survival ?? -1);
        expect(app?.primary.survival).toBeLessThanOrEqual(app?.hi.survival ?? -1);
      }),
    );
  });

  it("no better verdict lowers a grade", () => {
    fc.assert(
      fc.property(observed, fc.nat(), ({ row, lines }, seed) => {
        const places = lines.flatMap((line, index) =>
          (line.type === "check" || line.type === "sweep") && line.verdict in BETTER ? [index] : [],
        );
        fc.pre(places.length > 0);
        const chosen = places[seed % places.length];
        const better = lines.map((line, index): FlatLine => {
          if (index !== chosen || (line.type !== "check" && line.type !== "sweep")) return line;
          return { ...line, verdict: BETTER[line.verdict] ?? "YES" };
        });
        expect(gradeOf(row, better)).toBeGreaterThanOrEqual(gradeOf(row, lines) - 1e-9);
      }),
    );
  });

  it("the order of flat lines does not matter", () => {
    const shuffled = observed.chain(({ row, lines }) =>
      fc.shuffledSubarray([...lines], { minLength: lines.length }).map((other) => ({ row, lines, other })),
    );
    fc.assert(
      fc.property(shuffled, ({ row, lines, other }) => {
        expect(score(row, other)).toEqual(score(row, lines));
      }),
    );
  });

  it("no number is NaN, infinite or out of range, and no ratio exceeds 1", () => {
    fc.assert(
      fc.property(observed, ({ row, lines }) => {
        const result = score(row, lines);
        for (const [path, value] of numbersOf(result)) {
          expect(Number.isFinite(value), path).toBe(true);
          // Net forgetting is negative when repairs outweigh losses.
          if (!path.endsWith("frNet")) expect(value, path).toBeGreaterThanOrEqual(0);
          if (/grade|built/i.test(path)) expect(value, path).toBeLessThanOrEqual(100 + 1e-9);
        }
        for (const [top, bottom] of [result.run.tp, result.run.apr, result.run.br, result.run.missing]) {
          expect(top).toBeLessThanOrEqual(bottom);
        }
      }),
    );
  });
});

describe("with nothing to count", () => {
  it("a run without apps has no numbers and is incomplete", () => {
    const empty = scoreObserved({ rows: [], apps: new Map(), isolation: null, observation: null });
    expect(empty.run).toMatchObject({ complete: false, planned: 0, grade: null, survival: null, apr: [0, 0] });
    expect(empty.run.side).toMatchObject({ passedOfPlanned: [0, 0], passedOfJudged: [0, 0] });
  });

  it("an app that never ran is 0..100, not absent", () => {
    const { run, apps } = score(makeRow(3), [{ type: "run", planned: [1] }]);
    expect(run).toMatchObject({ complete: false, grade: 0, requestsRun: 0, planned: 3, missing: [14, 14] });
    expect([apps[0]?.lo.grade, apps[0]?.hi.grade]).toEqual([0, 100]);
    expect(apps[0]?.hi.apr).toEqual([0, 0]);
  });

  it("a request without checks leaves Grade, Survival and APR and is listed", () => {
    const row = makeRow(3);
    const requests = row.requests.map((request) => (request.number === 2 ? { ...request, checks: [] } : request));
    const lines = row.requests.flatMap(({ number, checks }): FlatLine[] => [
      { type: "request", sampleIndex: 1, request: number, responded: true, up: true },
      ...checks.flatMap((_, check): FlatLine[] =>
        number === 2
          ? []
          : [{ type: "check", sampleIndex: 1, request: number, check, verdict: "YES", cause: "judged" }],
      ),
    ]);
    const { primary } = score({ ...row, requests }, lines).apps[0] ?? {};
    expect(primary).toMatchObject({ grade: 100, survival: 2, apr: [0, 0], strict: [1, null, 1], emptyRequests: [2] });
    expect(primary?.unmatched).toEqual([3]);
  });

  it("a row without a single check has no grade at all", () => {
    const row = { ...makeRow(1), requests: [{ number: 1, instruction: "Build it.", checks: [] }] };
    expect(score(row, []).apps).toMatchObject([{ primary: { grade: null, built: null, survival: 0, frNet: null } }]);
  });
});

describe("a superseded expectation", () => {
  it("is not held against later requests", () => {
    const row = makeRow(2);
    const [first, second] = row.requests;
    const superseded = {
      ...row,
      requests: [
        {
          ...first,
          number: 1,
          instruction: "",
          checks: (first?.checks ?? []).map((c) => ({ ...c, superseded: true })),
        },
        second ?? { number: 2, instruction: "", checks: [] },
      ],
    };
    const lines = row.requests.flatMap(({ number, checks }): FlatLine[] => [
      { type: "request", sampleIndex: 1, request: number, responded: true, up: true },
      ...checks.map(({ role }, check): FlatLine => {
        const verdict = role === "backward" ? "NO" : "YES";
        return { type: "check", sampleIndex: 1, request: number, check, verdict, cause: "judged" };
      }),
    ]);
    expect(score(row, lines).apps).toMatchObject([{ primary: { br: [0, 1], strict: [1, 0] } }]);
    expect(score(superseded, lines).apps).toMatchObject([{ primary: { br: [0, 0], strict: [1, 1], grade: 100 } }]);
  });
});
