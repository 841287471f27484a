import { expect, it } from "vitest";
import { parseLabels } from "../../src/jobs/calibrate-on-labels.ts";
import { tinyRows } from "../trace/sample-events.ts";

const rows = tinyRows(2, 2);
const read = (...lines: readonly object[]) =>
  parseLabels(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), "labels.jsonl", rows);

it("reads our own labels, of which the last about a check counts", () => {
  const label = { sampleIndex: 1, request: 2, check: 3, verdict: "NO" };
  expect(read(label, { ...label, verdict: "YES" })).toEqual([{ ...label, verdict: "YES" }]);
});

it("reads annotations in the order of an app's checks over all requests, without those that are null", () => {
  expect(read({ index: 1, annotations: ["YES", null, "PARTIAL", null, null, "NO"] })).toEqual([
    { sampleIndex: 2, request: 1, check: 0, verdict: "YES" },
    { sampleIndex: 2, request: 1, check: 2, verdict: "PARTIAL" },
    { sampleIndex: 2, request: 2, check: 0, verdict: "NO" },
  ]);
});

it("refuses labels about what is not there, and lines that are none, by their line", () => {
  expect(() => read({ sampleIndex: 3, request: 1, check: 0, verdict: "NO" })).toThrow("line 1: the run has no app 3");
  expect(() => read({ sampleIndex: 1, request: 1, check: 5, verdict: "NO" })).toThrow("no check 1.5");
  expect(() => read({ index: 0, annotations: Array.from({ length: 11 }, () => "YES") })).toThrow("11 annotations");
  expect(() => read({ index: 0, annotations: [] }, { verdict: "MAYBE" })).toThrow("line 2");
  expect(() => parseLabels("{\n", "labels.jsonl", rows)).toThrow("line 1");
});
