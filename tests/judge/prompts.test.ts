import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { fillPrompt, loadPrompts } from "../../src/judge/prompts.ts";

test("a changed text or name changes the hash of the prompts, line ends and order of names do not", async () => {
  const path = await mkdtemp(join(tmpdir(), "evoweb-test-"));
  const folder = pathToFileURL(`${path}/`);
  const write = async (name: string, text: string): Promise<void> => writeFile(join(path, `${name}.md`), text);
  try {
    await write("a", "one\ntwo\n");
    await write("b", "three\n");
    const first = loadPrompts(folder, ["a", "b"]);
    expect(first.texts).toEqual({ a: "one\ntwo", b: "three" });
    await write("a", "one\r\ntwo\r\n");
    expect(loadPrompts(folder, ["b", "a"])).toEqual(first);
    await write("a", "one\ntwo!\n");
    expect(loadPrompts(folder, ["a", "b"]).hash).not.toBe(first.hash);
    expect(() => loadPrompts(folder, ["c"])).toThrow(/c\.md cannot be read/);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});

test("a value that looks like a place for another value stays as it is", () => {
  expect(fillPrompt("{{page}} and {{task}}", { page: "{{task}} $& $1", task: "buy" })).toBe("{{task}} $& $1 and buy");
  expect(() => fillPrompt("{{nothing}}", {})).toThrow(/nothing/);
});
