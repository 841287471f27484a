import { writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { isParquet, readParquet } from "../../src/dataset/parquet.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { sampleRow } from "./sample-row.ts";

// Valid forms of the formats that this Node cannot write: the content as one stored block.
function lz4Raw(bytes: Uint8Array): Uint8Array {
  const rest = bytes.length - 15;
  if (rest < 0) return Uint8Array.from([bytes.length << 4, ...bytes]);
  const lengths = [...Array.from({ length: Math.floor(rest / 255) }, () => 255), rest % 255];
  return Uint8Array.from([0xf0, ...lengths, ...bytes]);
}

function lz4Hadoop(bytes: Uint8Array): Uint8Array {
  const block = lz4Raw(bytes);
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(bytes.length, 0);
  sizes.writeUInt32BE(block.length, 4);
  return Buffer.concat([sizes, block]);
}

function zstd(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE(bytes.length * 8 + 1, 9, 3);
  return Buffer.concat([head, bytes]);
}

const codecs = {
  UNCOMPRESSED: undefined,
  SNAPPY: undefined,
  GZIP: gzipSync,
  BROTLI: brotliCompressSync,
  LZ4_RAW: lz4Raw,
  LZ4: lz4Hadoop,
  ZSTD: zstd,
} as const;

function write(columnData: Parameters<typeof parquetWriteBuffer>[0]["columnData"], codec: keyof typeof codecs): Buffer {
  const compress = codecs[codec];
  const compressors = compress === undefined ? {} : { [codec]: (bytes: Uint8Array) => new Uint8Array(compress(bytes)) };
  return Buffer.from(parquetWriteBuffer({ columnData, codec, compressors }));
}

test.each(Object.keys(codecs) as (keyof typeof codecs)[])("rows compressed with %s are read", async (codec) => {
  const texts = ["नमस्ते दुनिया", "שלום עולם", "a".repeat(300)];
  const bytes = write(
    [
      { name: "text", data: texts, type: "STRING" },
      { name: "count", data: [1n, 2n, 3n], type: "INT64" },
    ],
    codec,
  );
  expect(isParquet(bytes)).toBe(true);
  expect(await readParquet("x.parquet", bytes)).toEqual(texts.map((text, index) => ({ text, count: index + 1 })));
});

test("64-bit integers are exact: digits in a string where a number would round", async () => {
  const data = [9007199254740991n, 9007199254740993n, -9223372036854775808n];
  const rows = await readParquet("x.parquet", write([{ name: "n", data, type: "INT64" }], "SNAPPY"));
  expect(rows).toEqual([{ n: 9007199254740991 }, { n: "9007199254740993" }, { n: "-9223372036854775808" }]);
});

test("a Parquet export with nested fields as JSON text has the content hash of the JSONL file", async () => {
  const rows = [sampleRow("a"), sampleRow("b")];
  const folder = await makeTempFolder();
  const lines = rows.map((row) => JSON.stringify(row)).join("\n");
  await writeFile(path.join(folder, "apps.jsonl"), lines);
  const columnData = Object.keys(sampleRow()).map((name) => ({
    name,
    data: rows.map((row) => {
      const value = (row as unknown as Record<string, unknown>)[name];
      return typeof value === "string" ? value : JSON.stringify(value);
    }),
    type: "STRING" as const,
  }));
  await writeFile(path.join(folder, "apps.parquet"), write(columnData, "ZSTD"));
  const parquet = await openDataset(path.join(folder, "apps.parquet"));
  expect(parquet.name).toBe("apps");
  expect(parquet.contentHash).toBe((await openDataset(path.join(folder, "apps.jsonl"))).contentHash);
});

test("a cut Parquet file is an error that names it", async () => {
  const bytes = write([{ name: "n", data: ["x".repeat(5000)], type: "STRING" }], "UNCOMPRESSED");
  const read = readParquet("cut.parquet", bytes.subarray(0, bytes.length - 100));
  await expect(read).rejects.toMatchObject({ code: "dataset" });
  await expect(read).rejects.toThrow("cut.parquet is a Parquet file that cannot be read");
});
