import { expect, test } from "vitest";
import { parseRow } from "../../src/dataset/parse-row.ts";
import { selectApps } from "../../src/dataset/select-apps.ts";
import { sampleRow } from "./sample-row.ts";

const rows = ["f", "e", "d", "c", "b", "a"].map((id) => parseRow(sampleRow(id, 1)));

function chosen(apps?: string): string[] {
  return selectApps(rows, apps).map(({ sampleIndex, row }) => `${sampleIndex}${row.id}`);
}

test("without a list all apps are taken, in file order", () => {
  expect(chosen()).toEqual(["1f", "2e", "3d", "4c", "5b", "6a"]);
});

test("chosen apps keep their sample index and the order of the file", () => {
  expect(chosen("1,3-5")).toEqual(["1f", "3d", "4c", "5b"]);
  expect(chosen(" 5 , 2 - 3,3")).toEqual(["2e", "3d", "5b"]);
});

test.each([
  ["", '"" is not a number or a range'],
  ["1,,2", '"" is not a number or a range'],
  ["one", '"one" is not a number or a range'],
  ["1.5", '"1.5" is not a number or a range'],
  ["-1", '"-1" is not a number or a range'],
  ["0", '"0" is not a number or a range'],
  ["2-", '"2-" is not a number or a range'],
  ["1-2-3", '"1-2-3" is not a number or a range'],
  ["5-3", "the range 5-3 runs backwards"],
  ["7", "there is no app 7; the dataset has apps 1..6"],
  ["1-99999999999", "there is no app 99999999999"],
  ["000001", "chosen by their position 1..6, not by id"],
])("the list %j is a usage error", (apps, message) => {
  expect(() => selectApps(rows, apps)).toThrow(expect.objectContaining({ code: "usage" }));
  expect(() => selectApps(rows, apps)).toThrow(message);
});
