import { expect, test } from "vitest";
import { hasColors } from "../../src/cli/colors.ts";

test("a pipe gets plain text, also where CI is set, and a terminal gets colours", () => {
  expect(hasColors({}, { CI: "true" })).toBe(false);
  expect(hasColors({ isTTY: true }, {})).toBe(true);
  expect(hasColors({ isTTY: true }, { TERM: "dumb" })).toBe(false);
});

test("NO_COLOR and FORCE_COLOR say more than the terminal", () => {
  expect(hasColors({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
  expect(hasColors({}, { FORCE_COLOR: "1" })).toBe(true);
  expect(hasColors({ isTTY: true }, { FORCE_COLOR: "0" })).toBe(false);
});
