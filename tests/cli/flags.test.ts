import { expect, test } from "vitest";
import { durationMs, oneOf, positiveNumber, wholeNumber } from "../../src/cli/flags.ts";

test.each([
  ["10", 10],
  ["08", 8],
  ["1", 1],
])("whole number %j is %d", (text, value) => {
  expect(wholeNumber(1)(text)).toBe(value);
});

test.each(["0", "4x", "", "1e3", "-1", "1.5", " 4", "NaN", "Infinity", "99999999999999999999"])(
  "whole number %j is refused",
  (text) => {
    expect(() => wholeNumber(1)(text)).toThrow("whole number");
  },
);

test.each([
  ["30s", 30_000],
  ["500ms", 500],
  ["5m", 300_000],
  ["2h", 7_200_000],
])("duration %j is %d ms", (text, value) => {
  expect(durationMs(text)).toBe(value);
});

test.each(["Infinity", "30", "0s", "", "1.5s", "s"])("duration %j is refused", (text) => {
  expect(() => durationMs(text)).toThrow("duration with its unit");
});

test("a number above 0 has a decimal point, never a comma", () => {
  expect(positiveNumber("0.1")).toBe(0.1);
  for (const bad of ["1,5", "", "0", "-1", "1e3", "x"]) expect(() => positiveNumber(bad)).toThrow("decimal point");
});

test("a word that is not offered is refused with those that are", () => {
  expect(oneOf("docker", "local")("docker")).toBe("docker");
  expect(() => oneOf("docker", "local")("podman")).toThrow("docker, local");
});
