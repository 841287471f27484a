import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/dataset/row.ts";
import { planSweep } from "../../../src/jobs/rejudge/plan-sweep.ts";
import { tinyRows } from "../../trace/sample-events.ts";

// 1 <- 2, and 3 stands alone; 4 changes what request 1 wrote.
function rowOf4(): Row {
  const [sampled] = tinyRows(1, 4);
  if (sampled === undefined) throw new Error("no row");
  return { ...sampled.row, dependencies: [{ from: 1, to: 2, what: "" }] };
}
const changedPaths = [["a.js", "b.js"], ["c.js"], ["b.js", "d.js"], ["a.js", "new.js"]];
const text = (places: readonly { request: number; check: number }[]): string[] =>
  places.map(({ request, check }) => `${request}.${check}`);

describe("a sweep of each snapshot", () => {
  it("asks every own check of earlier requests, those within reach of the change first", () => {
    const steps = planSweep({ row: rowOf4(), changedPaths });
    expect(steps.map(({ snapshot, touched }) => ({ snapshot, touched }))).toEqual([
      { snapshot: 2, touched: [] },
      { snapshot: 3, touched: [1] },
      { snapshot: 4, touched: [1] },
    ]);
    expect(steps.map(({ chosen }) => chosen.length)).toEqual([5, 9, 13]);
    expect(steps.every(({ leftOut }) => leftOut.length === 0)).toBe(true);
    // Requests 1 and 2 (which builds on 1) come before 3, which the change does not reach.
    expect(new Set(steps[2]?.chosen.slice(0, 9).map(({ request }) => request))).toEqual(new Set([1, 2]));
  });

  it("stops at the budget, says what is left out, and comes to the longest unseen checks next time", () => {
    const steps = planSweep({ row: rowOf4(), changedPaths, budget: 3 });
    expect(text(steps[0]?.chosen ?? [])).toEqual(["1.0", "1.1", "1.2"]);
    expect(steps[0]).toMatchObject({ reachableLeftOut: 0 });
    expect(text(steps[1]?.chosen ?? [])).toEqual(["1.3", "1.4", "1.0"]);
    expect(steps[1]?.leftOut).toHaveLength(6);
    expect(steps[1]).toMatchObject({ reachableLeftOut: 6 });
    expect(steps[2]?.leftOut).toHaveLength(10);
  });

  it("asks nothing at a budget of none, and counts it", () => {
    const steps = planSweep({ row: rowOf4(), changedPaths, budget: 0 });
    expect(steps.map(({ chosen, leftOut }) => [chosen.length, leftOut.length])).toEqual([
      [0, 5],
      [0, 9],
      [0, 13],
    ]);
  });

  it("leaves out what a later request has superseded", () => {
    const row = rowOf4();
    const superseded = row.requests.map((request) => ({
      ...request,
      checks: request.checks.map((check) => (request.number === 1 ? { ...check, superseded: true } : check)),
    }));
    const steps = planSweep({ row: { ...row, requests: superseded }, changedPaths });
    expect(steps.map(({ chosen }) => chosen.length)).toEqual([0, 4, 8]);
  });
});
