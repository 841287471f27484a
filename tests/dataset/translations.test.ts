import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openDataset, validateDataset } from "../../src/dataset/open-dataset.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { sampleRow } from "./sample-row.ts";

const languages = (await readdir("datasets/evoweb-mini/translations")).map((name) => name.slice(0, -5));

test.each(languages)("split %s of evoweb-mini differs from its rows in the users' requests alone", async (split) => {
  const { faults, warnings } = await validateDataset("evoweb-mini", { split, against: "evoweb-mini" });
  expect(faults).toEqual([]);
  expect(warnings.filter(({ message }) => message === "no request is translated")).toEqual([]);
});

test.each(languages)("split %s keeps every quoted label, colour, amount and date as it is", async (split) => {
  const original = await openDataset("evoweb-mini");
  const translated = await openDataset("evoweb-mini", { config: "multilingual", split });
  expect(translated).toMatchObject({ config: "multilingual", split, revision: null, dir: original.dir });
  expect(translated.contentHash).not.toBe(original.contentHash);
  expect(translated.truth?.hasOracle("000001")).toBe(true);
  for (const [index, { requests }] of original.rows.entries()) {
    for (const { number, instruction } of requests) {
      const text = translated.rows[index]?.requests[number - 1]?.instruction ?? "";
      expect(text).not.toBe(instruction);
      const kept = instruction.match(/"[^"]*"|#[0-9A-Fa-f]{6}|-?€[\d,.]*\d|\d{4}-\d\d(?:-\d\d)?/g) ?? [];
      expect(kept.filter((part) => !text.includes(part))).toEqual([]);
    }
  }
});

test("a split that does not exist is named with those that do", async () => {
  const opened = openDataset("evoweb-mini", { split: "xx" });
  await expect(opened).rejects.toMatchObject({ code: "usage" });
  await expect(opened).rejects.toThrow("multilingual (");
  await expect(openDataset("evoweb-mini", { revision: "main" })).rejects.toMatchObject({ code: "usage" });
});

test("a folder's translation that does not fit its rows is refused", async () => {
  const folder = await makeTempFolder();
  await writeFile(path.join(folder, "rows.jsonl"), JSON.stringify(sampleRow("a")));
  await mkdir(path.join(folder, "translations"));
  await writeFile(path.join(folder, "translations/fr.json"), JSON.stringify({ a: ["un"] }));
  await expect(openDataset(folder, { split: "fr" })).rejects.toThrow("has 1 texts for the");
  await cp(path.join(folder, "rows.jsonl"), path.join(folder, "translations/de.json"));
  await expect(openDataset(folder, { split: "de" })).rejects.toThrow("cannot be read");
  expect((await openDataset(folder)).split).toBe("test");
});
