import { expect, test } from "vitest";
import { requireSameInputs } from "../../src/runner/same-inputs.ts";
import type { RunJson } from "../../src/trace/run-json.ts";
import { SAMPLE_RUN } from "../trace/sample-events.ts";

const runWith = (dataset: object, judge: RunJson["provenance"]["judge"]): RunJson => ({
  ...SAMPLE_RUN,
  provenance: { ...SAMPLE_RUN.provenance, dataset: { ...SAMPLE_RUN.provenance.dataset, ...dataset }, judge },
});
const oracle = { name: "oracle", hash: "aaaa" };

test("a run goes on with the inputs that it was started with, and with what an older evoweb did not record", () => {
  const stored = runWith({ contentHash: "1" }, oracle);
  expect(() => requireSameInputs(stored, runWith({ contentHash: "1", truthHash: "7" }, oracle))).not.toThrow();
});

test("rows, solutions or oracles that changed meanwhile stop a resume, and each is named", () => {
  const stored = runWith({ contentHash: "1", truthHash: "7" }, oracle);
  const now = runWith({ contentHash: "2", truthHash: "8" }, { ...oracle, hash: "bbbb" });
  expect(() => requireSameInputs(stored, now)).toThrow(
    "the hash of the rows was 1 and is 2; the hash of the solutions and mutants was 7 and is 8; the hash of the judge was aaaa and is bbbb",
  );
  expect(() => requireSameInputs(stored, runWith({ contentHash: "1", truthHash: "7" }, null))).toThrow(
    "the judge was oracle and is none",
  );
});
