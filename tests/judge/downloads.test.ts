import { basename } from "node:path";
import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { safeFileName } from "../../src/judge/downloads.ts";

test("a suggested name becomes a harmless one", () => {
  expect(safeFileName(1, "notes.json")).toBe("01-notes.json");
  expect(safeFileName(2, "../../outside.csv")).toBe("02-outside.csv");
  expect(safeFileName(3, "")).toBe("03-file");
  expect(safeFileName(4, "...")).toBe("04-file");
});

test("no suggested name leads out of its folder or is too long", () => {
  assert(
    property(string(), (suggested) => {
      const name = safeFileName(7, suggested);
      expect(name).toBe(basename(name));
      expect(name).toMatch(/^07-[\w.-]+$/);
      expect(name.length).toBeLessThanOrEqual(83);
    }),
  );
});
