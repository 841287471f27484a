import { describe, expect, it } from "vitest";
import { readSourceRequests, readSweep } from "../../../src/jobs/rejudge/source-requests.ts";
import { numbersOf, selectChecks } from "../../../src/jobs/rejudge/select-checks.ts";
import type { TraceEvent } from "../../../src/trace/event.ts";
import { judged, makeEvent, ranRequest, tinyRows } from "../../trace/sample-events.ts";

const [sampled] = tinyRows(1, 3);
const read = (events: readonly TraceEvent[]) => {
  if (sampled === undefined) throw new Error("no row");
  return readSourceRequests(sampled.row, events);
};
const first = ranRequest(1, ["YES", "NO", "MISSING", "PARTIAL"]).map((fact) => makeEvent(fact));

describe("what a run's trace says about a request", () => {
  it("is its last complete attempt, with the last verdict of each check and a pass above all of them", () => {
    const again = makeEvent({ ...judged(1, 1, "YES"), pass: 2 });
    const cut = ranRequest(1, ["NO"])
      .slice(0, -1)
      .map((fact) => makeEvent(fact, { attempt: 2 }));
    const [request, ...others] = read([...first, again, ...cut]);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ attempt: 1, snapshot: { sha: "1", tree: "2" }, nextPass: 3 });
    expect([...(request?.verdicts ?? [])].map(([check, { verdict }]) => `${check} ${verdict}`)).toEqual([
      "0 YES",
      "1 YES",
      "2 MISSING",
      "3 PARTIAL",
    ]);
    expect(request?.facts.map(({ type }) => type)).not.toContain("check_judged");
  });

  it("leaves sweeps out, and reads the final one apart", () => {
    const final = makeEvent({ ...judged(1, 0, "NO"), sweep: true, pass: 5 });
    const early = makeEvent({ ...judged(1, 1, "NO"), sweep: true, snapshot: 2 });
    const events = [...first, early, final];
    expect(read(events)[0]).toMatchObject({ nextPass: 2 });
    expect(readSweep(events)).toEqual([final]);
  });
});

describe("which checks are judged again", () => {
  const [request] = read(first);
  if (request === undefined) throw new Error("no request");

  it("are all of a chosen request, or those with a verdict that was named; one without a verdict is missing", () => {
    expect(selectChecks(request, { requests: null })).toEqual([0, 1, 2, 3, 4]);
    expect(selectChecks(request, { requests: new Set([2]) })).toEqual([]);
    expect(selectChecks(request, { requests: null, only: ["missing"] })).toEqual([2, 4]);
    expect(selectChecks(request, { requests: new Set([1]), only: ["no", "partial"] })).toEqual([1, 3]);
  });

  it("are none where no snapshot was stored", () => {
    expect(selectChecks({ ...request, snapshot: null }, { requests: null })).toEqual([]);
  });

  it("a list that is none is refused with the flag's name", () => {
    expect(numbersOf(undefined, 3, "requests")).toBeNull();
    expect(numbersOf("1,3", 3, "requests")).toEqual(new Set([1, 3]));
    for (const bad of ["0", "4", "a", ""]) expect(() => numbersOf(bad, 3, "requests")).toThrow("--requests");
  });
});
