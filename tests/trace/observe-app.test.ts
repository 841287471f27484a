import { describe, expect, it } from "vitest";
import { effortOf } from "../../src/trace/effort.ts";
import type { TraceEvent } from "../../src/trace/event.ts";
import type { CountedApp } from "../../src/trace/observe-app.ts";
import { observeApp } from "../../src/trace/observe-app.ts";
import { judged, makeEvent, ranRequest, tinyRows, turn } from "./sample-events.ts";

function observe(events: readonly TraceEvent[]): CountedApp {
  const [sampled] = tinyRows(1, 3);
  if (sampled === undefined) throw new Error("no row");
  return observeApp(sampled, events);
}

const whole = ranRequest(1, ["YES"]).map((fact) => makeEvent(fact));

describe("what counts of an app's events", () => {
  it("is the last complete attempt, not a later one that was cut off", () => {
    const second = ranRequest(1, ["NO"]).map((fact) => makeEvent(fact, { attempt: 2 }));
    expect(
      observe([...whole, ...second])
        .observations.requests.get(1)
        ?.checks.get(0)?.verdict,
    ).toBe("NO");
    const cut = observe([...whole, ...second.slice(0, -1)]);
    expect(cut.observations.requests.get(1)).toMatchObject({ state: "run" });
    expect(cut.observations.requests.get(1)?.checks.get(0)?.verdict).toBe("YES");
    expect(effortOf([...whole, ...second], observe([...whole, ...second]))).toMatchObject({
      counted: { agent: { count: 1, inputTokens: 1000, costUsd: 0.01 }, judge: { count: 1 } },
      spent: { agent: { count: 2, inputTokens: 2000, costUsd: 0.02 }, judge: { count: 2 } },
    });
  });

  it("is what there is of a request whose attempts were all cut off", () => {
    const { observations } = observe([makeEvent(turn(1)), makeEvent(judged(1, 0, "YES"))]);
    expect(observations.requests.get(1)).toMatchObject({ state: "unfinished", responded: true, up: null });
    expect(observations.requests.get(1)?.checks.get(0)?.verdict).toBe("YES");
  });

  it("is the verdict of the highest pass, wherever it stands", () => {
    const rejudged = makeEvent({ ...judged(1, 0, "PARTIAL"), pass: 2 });
    for (const events of [
      [...whole, rejudged],
      [rejudged, ...whole],
    ]) {
      expect(observe(events).observations.requests.get(1)?.checks.get(0)?.verdict).toBe("PARTIAL");
    }
  });

  it("an app that could be started once was up; one that never could was down", () => {
    const down = makeEvent({ type: "app_down", request: 1, class: "start_crash", evidence: {} });
    expect(observe([down]).observations.requests.get(1)?.up).toBe(false);
    expect(observe([down, ...whole]).observations.requests.get(1)?.up).toBe(true);
    expect(observe([...whole, down]).observations.requests.get(1)?.up).toBe(true);
  });

  it("the final sweep is kept apart from the turns", () => {
    const { observations } = observe([...whole, makeEvent({ ...judged(1, 0, "NO"), sweep: true })]);
    expect(observations.requests.get(1)?.checks.get(0)?.verdict).toBe("YES");
    expect(observations.sweep?.get(1)?.get(0)?.verdict).toBe("NO");
    expect(observe(whole).observations.sweep).toBeNull();
  });

  it("a sweep on an earlier snapshot is in no score, only in what was spent", () => {
    const early = makeEvent({ ...judged(1, 0, "NO"), sweep: true, snapshot: 2 });
    const counted = observe([...whole, early]);
    expect(counted.observations.sweep).toBeNull();
    expect(effortOf([...whole, early], counted)).toMatchObject({
      counted: { judge: { count: 1 } },
      spent: { judge: { count: 2 } },
    });
  });

  it("requests that had nothing to build on are failed, not missing", () => {
    const end = makeEvent({ type: "app_finished", status: "stopped", cause: "no_artifact" });
    const { observations } = observe([...whole, end]);
    expect([...observations.requests.keys()]).toEqual([1, 2, 3]);
    expect(observations.requests.get(3)).toMatchObject({ state: "no_artifact", up: false, responded: false });
    expect(observations.requests.get(3)?.checks.get(4)).toEqual({ verdict: "NO", cause: "no_artifact" });
    const infra = makeEvent({ type: "app_finished", status: "stopped", cause: "infra" });
    expect([...observe([...whole, infra]).observations.requests.keys()]).toEqual([1]);
  });

  it("usage that nobody reported stays unknown", () => {
    const silent = makeEvent({ ...judged(1, 0, "YES") });
    expect(effortOf([silent], observe([silent])).spent.judge).toMatchObject({ inputTokens: null, unreported: 1 });
    expect(effortOf([], observe([])).spent.agent).toMatchObject({ count: 0, inputTokens: null, costUsd: null });
  });
});
