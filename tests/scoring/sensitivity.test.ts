import { expect, it } from "vitest";
import { scoreObserved, type Observed } from "../../src/scoring/score.ts";
import { scoreSensitivity } from "../../src/scoring/sensitivity.ts";
import type { Verdict } from "../../src/trace/event.ts";
import { makeRow } from "./observed-arbitrary.ts";

const none = { low: 0, high: 0 };

function observe(say: (request: number, check: number) => Verdict, cause = "judged"): Observed {
  const rows = [1, 2, 3, 4].map((sampleIndex) => ({ sampleIndex, row: makeRow(6) }));
  const apps = rows.map(({ sampleIndex, row }) => {
    const requests = row.requests.map(({ number, checks }) => {
      const seen = checks.map((_, index) => [index, { verdict: say(number, index), cause }] as const);
      return [number, { state: "run", responded: true, up: true, checks: new Map(seen) }] as const;
    });
    return [sampleIndex, { sampleIndex, requests: new Map(requests), sweep: null }] as const;
  });
  return { rows, apps: new Map(apps), isolation: null, observation: null };
}

const mixed = observe((request, check) => ((request + check) % 4 === 0 ? "NO" : "YES"));

it("a judge without error gives the score itself, on both ends", () => {
  const { grade, survival } = scoreObserved(mixed).run;
  const exact = scoreSensitivity(mixed, { falseYes: none, falseNo: none });
  expect(exact).toMatchObject({ grade: [grade, grade], survival: [survival, survival] });
  expect(exact.assumptions).toHaveLength(4);
});

it("false YES pull down, false NO up, and the same input gives the same range", () => {
  const { grade } = scoreObserved(mixed).run;
  const down = scoreSensitivity(mixed, { falseYes: { low: 0, high: 0.5 }, falseNo: none }).grade;
  expect(down?.[0]).toBeLessThan(grade ?? 0);
  expect(down?.[1]).toBe(grade);
  const up = scoreSensitivity(mixed, { falseYes: none, falseNo: { low: 0, high: 0.2 } }).grade;
  expect(up?.[0]).toBe(grade);
  expect(up?.[1]).toBeGreaterThan(grade ?? 100);
  const both = { falseYes: { low: 0.1, high: 0.3 }, falseNo: { low: 0.02, high: 0.1 } };
  expect(scoreSensitivity(mixed, both)).toEqual(scoreSensitivity(mixed, both));
});

it("where every verdict is YES, the share that truly holds is all, and nothing is flipped", () => {
  const all = observe(() => "YES");
  const range = scoreSensitivity(all, { falseYes: { low: 0, high: 0.4 }, falseNo: { low: 0, high: 0.1 } });
  expect(range.grade).toEqual([100, 100]);
});

it("nothing is said of a judge no better than chance, of a rate that was not measured, or without verdicts of a judge", () => {
  const chance = { low: 0.2, high: 1 };
  expect(scoreSensitivity(mixed, { falseYes: chance, falseNo: chance })).toMatchObject({ grade: null, survival: null });
  const unknown = { low: null, high: null };
  expect(scoreSensitivity(mixed, { falseYes: unknown, falseNo: none }).grade).toBeNull();
  const down = observe(() => "NO", "app_down");
  expect(scoreSensitivity(down, { falseYes: none, falseNo: none }).grade).toBeNull();
});
