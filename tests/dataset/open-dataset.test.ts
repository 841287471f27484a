import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { sampleRow } from "./sample-row.ts";

const circle = sampleRow("circle");
circle.dependency_graph.edges.push({ from: "R8", to: "R5", what: "" });

async function write(name: string, ...rows: readonly unknown[]): Promise<string> {
  const file = path.join(await makeTempFolder(), name);
  await writeFile(file, rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n"));
  return file;
}

test("a built-in dataset opens by its name, with its folder and ground truth", async () => {
  const { name, dir, apps, truth } = await openDataset("evoweb-mini");
  expect(name).toBe("evoweb-mini");
  expect(dir).toBe(path.resolve("datasets/evoweb-mini"));
  expect(apps[0]).toMatchObject({ sampleIndex: 1, row: { id: "000001" } });
  expect(truth?.variants).toContain("solution");
});

test("a lone file has neither folder nor ground truth; rows.jsonl is called by its folder", async () => {
  expect(await openDataset(await write("apps.jsonl", sampleRow()))).toMatchObject({
    name: "apps",
    dir: null,
    truth: null,
  });
  const file = await write("rows.jsonl", sampleRow());
  expect(await openDataset(file)).toMatchObject({ name: path.basename(path.dirname(file)), truth: null });
  expect(await openDataset(path.dirname(file))).toMatchObject({ name: path.basename(path.dirname(file)) });
});

test("rows-fr.jsonl has the ground truth that lies beside it", async () => {
  const file = await write("rows-fr.jsonl", sampleRow("a"));
  await mkdir(path.join(path.dirname(file), "oracles"));
  await writeFile(path.join(path.dirname(file), "oracles/a.ts"), "");
  const { name, truth } = await openDataset(file);
  expect(name).toBe("rows-fr");
  expect(truth?.hasOracle("a")).toBe(true);
});

test("one refused row refuses the file, and says which rows can be chosen", async () => {
  const file = await write("apps.jsonl", sampleRow("a"), circle, sampleRow("b"));
  const opened = openDataset(file);
  await expect(opened).rejects.toMatchObject({ code: "dataset" });
  await expect(opened).rejects.toThrow("row circle, dependency_graph.edges: a circle of dependencies");
  await expect(opened).rejects.toThrow("--apps 1,3");
});

test("chosen sound rows open beside a refused one, with their positions and the hash of the whole file", async () => {
  const file = await write("apps.jsonl", sampleRow("a"), circle, sampleRow("b"));
  const one = await openDataset(file, { apps: "3" });
  expect(one.apps.map(({ sampleIndex, row }) => [sampleIndex, row.id])).toEqual([[3, "b"]]);
  expect((await openDataset(file, { apps: "1,3" })).contentHash).toBe(one.contentHash);
  await expect(openDataset(file, { apps: "2" })).rejects.toThrow("row circle");
  await expect(openDataset(file, { apps: "4" })).rejects.toMatchObject({ code: "usage" });
});

test("text that is not JSON leaves the positions open, so nothing can be chosen", async () => {
  const file = await write("apps.jsonl", sampleRow("a"), "{", sampleRow("b"));
  await expect(openDataset(file, { apps: "1" })).rejects.toThrow("line 2, column 2: is not JSON");
});
