import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FrameReader } from "../../../src/runner/docker/frames.ts";

const fixture = (name: string): Buffer => readFileSync(new URL(`../../fixtures/docker/${name}`, import.meta.url));

function readAll(bytes: Buffer, pieceBytes: number): { stdout: string; stderr: string } {
  const pieces: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const reader = new FrameReader((kind, piece) => pieces[kind].push(Buffer.from(piece)));
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  reader.end();
  return { stdout: Buffer.concat(pieces.stdout).toString(), stderr: Buffer.concat(pieces.stderr).toString() };
}

describe("frames of command output", () => {
  test.each([1, 2, 3, 5, 7, 8, 9, 64, 1_000_000])("are taken apart in pieces of %i bytes (B11)", (pieceBytes) => {
    expect(readAll(fixture("frames.bin"), pieceBytes)).toEqual({
      stdout: fixture("expected-stdout.txt").toString(),
      stderr: fixture("expected-stderr.txt").toString(),
    });
  });

  test.each([1, 5, 1_000_000])("text without frames is refused at once, in pieces of %i bytes (B13)", (pieceBytes) => {
    expect(() => readAll(fixture("raw.bin"), pieceBytes)).toThrow(/has no frames.*terminal/s);
    expect(() => readAll(Buffer.from("hi"), pieceBytes)).toThrow("has no frames");
  });

  test("a broken header is named, not waited for (B13)", () => {
    expect(() => readAll(fixture("broken-header.bin"), 5)).toThrow(/no frames|lost its frames/);
    const tooLong = Buffer.from([1, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]);
    expect(() => readAll(tooLong, 8)).toThrow("010000007fffffff");
  });

  test("a stream that breaks off within a frame is no complete output", () => {
    expect(() => readAll(fixture("frames.bin").subarray(0, -1), 100)).toThrow("broke off within a frame");
    expect(() => readAll(Buffer.from([1, 0, 0]), 100)).toThrow("broke off within a frame");
  });

  test("what the engine itself reports in the stream is an error", () => {
    const words = Buffer.from("daemon is going down");
    expect(() => readAll(Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0, 0, words.length]), words]), 4)).toThrow(
      "daemon is going down",
    );
  });
});
