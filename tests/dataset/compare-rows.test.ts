import { expect, test } from "vitest";
import { compareRows } from "../../src/dataset/compare-rows.ts";
import { findingText } from "../../src/dataset/finding.ts";
import { parseRow } from "../../src/dataset/parse-row.ts";
import { sampleRow } from "./sample-row.ts";

const original = ["1", "2"].map((id) => sampleRow(id, 3));

function translate(row: ReturnType<typeof sampleRow>) {
  const followUps = row.follow_ups.map((followUp) => ({ ...followUp, instruction: `Bitte: ${followUp.instruction}` }));
  return { ...row, instruction: `Bitte: ${row.instruction}`, follow_ups: followUps };
}

function differences(translated: readonly object[]): string[] {
  const findings = compareRows(
    translated.map((row) => parseRow(row)),
    original.map((row) => parseRow(row)),
  );
  return findings.map((finding) => `${finding.severity}: ${findingText(finding)}`);
}

test("a translation of the requests alone has no faults", () => {
  expect(differences(original.map(translate))).toEqual([]);
});

test("a change outside the requests is named by its path", () => {
  const [first, second] = original.map(translate);
  const seed = { ...first?.pinned_seed, records: [{ title: "Milch" }] };
  const changed = { ...first, pinned_seed: seed, application_type: "Notizen" };
  expect(differences([changed, second ?? {}])).toEqual([
    "fault: row 1, application_type: differs from the original",
    "fault: row 1, pinned_seed.records[0].title: differs from the original",
  ]);
});

test("missing, added and moved rows are faults; an untranslated row is a warning", () => {
  const [first, second] = original.map(translate);
  expect(differences([second ?? {}, first ?? {}])).toHaveLength(2);
  expect(differences([first ?? {}, translate(sampleRow("3", 3))])).toEqual([
    "fault: row 2: is missing here",
    "fault: row 3: does not occur in the original",
  ]);
  expect(differences([first ?? {}, original[1] ?? {}])).toEqual([
    "warning: row 2, instruction: no request is translated",
  ]);
});
