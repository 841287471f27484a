import { array, assert, integer, property, stringMatching, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { harmlessText, outputBuffer } from "../../src/runner/output-buffer.ts";

test("whatever the chunks, head and tail are kept and every byte is counted", () => {
  const chunks = array(stringMatching(/^[a-z]{0,30}$/));
  assert(
    property(chunks, integer({ min: 1, max: 20 }), (parts, half) => {
      const output = outputBuffer(half * 2);
      for (const part of parts) output.push(Buffer.from(part));
      const all = parts.join("");
      const { text, totalBytes, droppedBytes } = output.result();
      const dropped = Math.max(0, all.length - half * 2);
      expect({ totalBytes, droppedBytes }).toEqual({ totalBytes: all.length, droppedBytes: dropped });
      const cut = `${all.slice(0, half)}\n[evoweb: ${dropped} bytes left out]\n${all.slice(-half)}`;
      expect(text).toBe(dropped === 0 ? all : cut);
    }),
  );
});

test("memory stays flat while 200 MB go through", () => {
  const output = outputBuffer(64 * 1024);
  const chunk = Buffer.alloc(1024 * 1024, "y");
  const before = process.memoryUsage().arrayBuffers;
  for (let megabyte = 0; megabyte < 200; megabyte += 1) output.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  expect(output.result()).toMatchObject({ totalBytes: 200 * 1024 * 1024, droppedBytes: 200 * 1024 * 1024 - 64 * 1024 });
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;title\u0007shown", "shown"],
  ["\u001b]8;;http://x\u001b\\link", "link"],
  ["one\r\ntwo\rthree", "one\ntwo\nthree"],
  ["a\u0000b\u0008c\tü", "a\uFFFDb\uFFFDc\tü"],
  ["\u001b[2J\u001b[Hcleared\u001bcreset", "clearedreset"],
])("%j becomes %j", (given, expected) => {
  expect(harmlessText(Buffer.from(given))).toBe(expected);
});

test("no bytes whatever leave a control character other than newline and tab", () => {
  assert(
    property(uint8Array(), (bytes) => {
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      expect(harmlessText(bytes)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});
