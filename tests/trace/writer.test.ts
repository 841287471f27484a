import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTraceWriter } from "../../src/trace/writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describe("the trace writer", () => {
  it("appends one line a record and keeps what is there", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "trace.jsonl");
    writeFileSync(path, '{"a":1}\n');
    {
      using writer = openTraceWriter(path);
      writer.append({ b: "café 🚀" });
      // On the disk at once, without closing.
      expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b":"café 🚀"}\n');
      writer.sync();
    }
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
  });

  it("starts a new line after a torn record, so that only that one is lost", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "trace.jsonl");
    writeFileSync(path, '{"a":1}\n{"b":');
    using writer = openTraceWriter(path);
    writer.append({ c: 3 });
    expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b":\n{"c":3}\n');
  });

  it("masks every line before it is written", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "trace.jsonl");
    using writer = openTraceWriter(path, (line) => line.replaceAll("s3cret", "[masked]"));
    writer.append({ text: "the key is s3cret" });
    expect(readFileSync(path, "utf8")).toBe('{"text":"the key is [masked]"}\n');
  });

  it.skipIf(!existsSync("/dev/full"))("a full disk is a fault of the harness, and nothing is written after it", () => {
    using writer = openTraceWriter("/dev/full");
    expect(() => writer.append({ a: 1 })).toThrow(expect.objectContaining({ code: "io" }));
    expect(() => writer.append({ a: 1 })).toThrow(/cannot be written any more/);
  });

  it("says which file cannot be opened", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "absent", "trace.jsonl");
    expect(() => openTraceWriter(path)).toThrow(expect.objectContaining({ code: "io" }));
  });
});
