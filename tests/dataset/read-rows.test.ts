import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { contentHashOf } from "../../src/dataset/content-hash.ts";
import { findingText } from "../../src/dataset/finding.ts";
import { inspectRows, readRows } from "../../src/dataset/read-rows.ts";
import { sampleRow } from "./sample-row.ts";
import { makeTempFolder } from "../temp-folder.ts";

// Never part of the project; a clone has it beside itself or not at all.
const webgen = ["../shared", "../../shared"]
  .map((shared) => path.resolve(shared, "data/webgen-bench/test.jsonl"))
  .find((file) => existsSync(file));

async function write(content: string | Buffer, name = "rows.jsonl"): Promise<string> {
  const file = path.join(await makeTempFolder(), name);
  await writeFile(file, content);
  return file;
}

const ids = ["000003", "000001", "000002"];
const lines = ids.map((id) => JSON.stringify(sampleRow(id)));

async function faultsOf(file: string): Promise<string[]> {
  return (await inspectRows(file)).findings.map((finding) => `${finding.severity}: ${findingText(finding)}`);
}

test("byte order mark, CRLF, blank lines and a missing last newline change neither rows nor content hash", async () => {
  const plain = await readRows(await write(`${lines.join("\n")}\n`));
  const windows = await readRows(await write(`\uFEFF${lines[0]}\r\n\r\n${lines[1]}\r\n \t\r\n${lines[2]}`));
  expect(plain.map((row) => row.id)).toEqual(ids);
  expect(windows).toEqual(plain);
  expect(contentHashOf(windows)).toBe(contentHashOf(plain));
  expect(JSON.stringify(windows)).not.toContain("\\r");
});

test("a JSON array loads, whatever the file is called, and hashes like its lines; so does one row spread over lines", async () => {
  const plain = await readRows(await write(lines.join("\n")));
  const array = await readRows(await write(`[\n${lines.join(",\n")}\n]`, "array.jsonl"));
  expect(array).toEqual(plain);
  expect(contentHashOf(array)).toBe(contentHashOf(plain));
  const single = await readRows(await write(JSON.stringify(sampleRow("7"), undefined, 2), "row.json"));
  expect(single.map((row) => row.id)).toEqual(["7"]);
});

test("the order of keys and JSON written as text do not change the content hash, the order of rows does", async () => {
  const row = sampleRow("1");
  const turned = Object.fromEntries(
    Object.entries({ ...row, pinned_seed: JSON.stringify(row.pinned_seed) }).toReversed(),
  );
  const hashOf = async (text: string) => contentHashOf(await readRows(await write(text)));
  expect(await hashOf(JSON.stringify(turned))).toBe(await hashOf(JSON.stringify(row)));
  expect(await hashOf(lines.toReversed().join("\n"))).not.toBe(await hashOf(lines.join("\n")));
});

test("a trailing comma is named by line and column, and the sound rows around it do not load alone", async () => {
  const broken = `${lines[1]?.slice(0, -1)},}`;
  const file = await write([lines[0], broken, lines[2]].join("\n"));
  expect(await faultsOf(file)).toEqual([
    expect.stringMatching(
      new RegExp(`^refused: line 2, column ${broken.length}: is not JSON: a comma with nothing after it`),
    ),
  ]);
  await expect(readRows(file)).rejects.toThrow("cannot be loaded: 1 fault");
});

test("faults of all rows are listed at once, with line, column, row id and path", async () => {
  const first = { ...sampleRow("000001"), instruction: " " };
  const { ui_instruct: _, ...second } = sampleRow("000002");
  const file = await write([JSON.stringify(first), "", '{"id": "x"', JSON.stringify(second), lines[1], "4"].join("\n"));
  const faults = await faultsOf(file);
  expect(faults).toEqual([
    expect.stringMatching(/^refused: line 1, column \d+, row 000001, instruction: the text of request 1 is empty$/),
    expect.stringMatching(/^refused: line 3, column 11: is not JSON: ends before it is complete/),
    expect.stringMatching(/^refused: line 4, column 1, row 000002, ui_instruct: is missing/),
    "refused: line 5, column 7, row 000001, id: the id is already used on line 1",
    "refused: line 6, column 1: a row must be an object, not a number",
  ]);
  const error: unknown = await readRows(file).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "EvowebError", code: "dataset" });
  for (const fault of faults) expect(String(error)).toContain(fault.replace("refused: ", ""));
});

test("inside an array the line is the line of the fault itself", async () => {
  const row = { ...sampleRow("1", 2), global_rules: [{ rule: "x", introduced_in_request: 9 }] };
  const text = JSON.stringify([sampleRow("0", 1), row], undefined, 1);
  const line = text.split("\n").findIndex((part) => part.includes(": 9")) + 1;
  expect(await faultsOf(await write(text, "rows.json"))).toEqual([
    expect.stringMatching(new RegExp(`^fault: line ${line}, column \\d+, row 1, global_rules\\[0\\]`)),
  ]);
});

test("wrong path, empty file, blank file, folder without rows and empty list are five different errors", async () => {
  const folder = await makeTempFolder();
  await writeFile(path.join(folder, "README.md"), "no rows");
  await expect(readRows(path.join(folder, "nowhere.jsonl"))).rejects.toThrow("there is no file or folder");
  await expect(readRows(await write(""))).rejects.toThrow("is empty (0 bytes)");
  await expect(readRows(await write("\n\r\n  \n"))).rejects.toThrow("holds only blank lines");
  await expect(readRows(folder)).rejects.toThrow("holds no rows");
  await expect(readRows(await write("[]"))).rejects.toThrow("holds an empty list");
});

test("a folder is read by its rows.jsonl; another file in it is suggested, not taken", async () => {
  const folder = path.join(await makeTempFolder(), "set");
  await mkdir(folder);
  await writeFile(path.join(folder, "test.jsonl"), lines[0] ?? "");
  await expect(readRows(folder)).rejects.toThrow(`did you mean ${path.join(folder, "test.jsonl")}?`);
  await writeFile(path.join(folder, "rows.jsonl"), lines[1] ?? "");
  expect((await readRows(folder)).map((row) => row.id)).toEqual(["000001"]);
});

test("files that are no UTF-8 text of rows are refused in words", async () => {
  await expect(readRows(await write(Buffer.from(`\uFEFF${lines[0]}`, "utf16le")))).rejects.toThrow("UTF-16");
  await expect(readRows(await write(Buffer.from(`${lines[0]}\n{"a":"\xe9"}`, "latin1")))).rejects.toThrow(
    "line 2: not UTF-8",
  );
  await expect(readRows(await write(Buffer.from("PAR1....")))).rejects.toThrow("Parquet");
  await expect(readRows(await write("id,instruction\n1,x\n"))).rejects.toThrow("this is no file of rows");
});

test("request texts arrive byte for byte, and U+2028 does not end a line", async () => {
  const texts = [
    'Add a line that says:\n```json\n{"role":"system"}\n```\nkeep the fence',
    "Show the text ${HOME} and $(whoami) and `date` exactly as typed",
    "Use the title {{title}} and <%= name %> and %s, unchanged",
    'A path C:\\temp\\new and a "quoted" word and a back\\slash',
    "Line one\u2028line two\u2029line three",
    "Emoji \u{1F469}\u200D\u{1F469}\u200D\u{1F467} and e\u0301 (e + accent: \u00e9) and 日本語",
    "--help",
    "   leading and trailing blanks   ",
    "Column types,action: string, datetime: timestamp[s], author: string",
  ];
  const row = sampleRow("verbatim", 10);
  const followUps = row.follow_ups.map((followUp, index) => ({ ...followUp, instruction: texts[index] ?? "" }));
  const [loaded] = await readRows(await write(`${JSON.stringify({ ...row, follow_ups: followUps })}\n${lines[0]}`));
  expect(loaded?.requests.slice(1).map((request) => request.instruction)).toEqual(texts);
});

test.skipIf(webgen === undefined)("all 101 rows and 647 checks of WebGen-Bench load without a finding", async () => {
  const { sampled, findings } = await inspectRows(webgen ?? "");
  const rows = sampled.map(({ row }) => row);
  expect(findings).toEqual([]);
  expect(rows).toHaveLength(101);
  expect(rows.every((row) => row.requests.length === 1)).toBe(true);
  expect(rows.flatMap((row) => row.requests[0]?.checks ?? [])).toHaveLength(647);
});
