import { expect, test } from "vitest";
import { findSource } from "../../src/dataset/match-check.ts";
import { parseRow } from "../../src/dataset/parse-row.ts";
import { sampleRow } from "./sample-row.ts";

test("a backward check leads to the own check it was copied from, through a copy of a copy too", () => {
  const raw = sampleRow("1", 3);
  const third = raw.follow_ups[1];
  const copyOfCopy = { ...raw.ui_instruct[0], kind: "backward", copied_from_request: 2 };
  const row = parseRow({
    ...raw,
    follow_ups: [raw.follow_ups[0], { ...third, ui_instruct: [...(third?.ui_instruct.slice(0, 4) ?? []), copyOfCopy] }],
  });
  const sources = row.requests.slice(1).map((request) => request.checks[4] && findSource(row, request.checks[4]));
  expect(sources).toEqual([
    { request: 1, check: 0 },
    { request: 1, check: 0 },
  ]);
});
