import { expect, test } from "vitest";
import { createPageNotes, cut } from "../../src/judge/page-notes.ts";

test("the same step again and again is one note that says how often", () => {
  const notes = createPageNotes();
  notes.addStep("read()", "1 ms");
  notes.addStep("read()", "2 ms");
  notes.addStep("read()", "3 ms: TimeoutError");
  notes.addStep("click()", "4 ms");
  notes.add("dialog", "alert");
  notes.addStep("click()", "5 ms");
  expect(notes.list.map(({ text }) => text)).toEqual([
    "read() 3 times, last 3 ms: TimeoutError",
    "click() 4 ms",
    "alert",
    "click() 5 ms",
  ]);
});

test("a page that says too much is cut in number and in length, each kind on its own", () => {
  const notes = createPageNotes();
  for (let index = 0; index < 5000; index += 1) notes.add("console_error", "x".repeat(10_000));
  notes.add("page_error", "kept");
  expect(notes.list.length).toBe(102);
  expect(notes.list.at(-2)?.text).toBe("further notes of this kind were left out");
  expect(notes.list.at(-1)?.text).toBe("kept");
  expect(Math.max(...notes.list.map(({ text }) => text.length))).toBeLessThan(600);
  expect(cut("abc", 2)).toBe("ab... (1 more characters)");
});
