import type { CappedOutput } from "./sandbox.ts";

/** Bytes kept of one stream when the command does not say: half of it head, half of it tail. */
export const DEFAULT_OUTPUT_BYTES = 1024 * 1024;

/** Collects a stream of any length in bounded memory: its head and its tail. */
export interface OutputBuffer {
  push(chunk: Uint8Array): void;
  totalBytes(): number;
  result(): CappedOutput;
}

/** The last `size` bytes of what was pushed, in a ring. */
class Tail {
  readonly #size: number;
  readonly #ring: Buffer;
  #end = 0;
  #filled = 0;

  constructor(size: number) {
    this.#size = size;
    this.#ring = Buffer.alloc(size);
  }

  push(chunk: Uint8Array): void {
    const part = chunk.subarray(Math.max(0, chunk.length - this.#size));
    const first = Math.min(part.length, this.#size - this.#end);
    this.#ring.set(part.subarray(0, first), this.#end);
    this.#ring.set(part.subarray(first), 0);
    this.#end = (this.#end + part.length) % this.#size;
    this.#filled = Math.min(this.#size, this.#filled + part.length);
  }

  bytes(): Buffer {
    if (this.#filled < this.#size) return this.#ring.subarray(0, this.#filled);
    return Buffer.concat([this.#ring.subarray(this.#end), this.#ring.subarray(0, this.#end)]);
  }
}

/** An empty buffer that keeps at most `maxBytes` (at least 2). */
export function outputBuffer(maxBytes: number): OutputBuffer {
  const half = Math.max(1, Math.floor(maxBytes / 2));
  const head: Buffer[] = [];
  let headBytes = 0;
  let totalBytes = 0;
  let tail: Tail | undefined;
  return {
    push(chunk) {
      totalBytes += chunk.length;
      const room = Math.min(half - headBytes, chunk.length);
      // A copy, because a small chunk may be a view into a large pool.
      if (room > 0) head.push(Buffer.from(chunk.subarray(0, room)));
      headBytes += Math.max(0, room);
      if (room >= chunk.length) return;
      tail ??= new Tail(half);
      tail.push(chunk.subarray(Math.max(0, room)));
    },
    totalBytes: () => totalBytes,
    result() {
      const start = Buffer.concat(head);
      const end = tail?.bytes() ?? Buffer.alloc(0);
      const droppedBytes = totalBytes - start.length - end.length;
      if (droppedBytes === 0) return { text: harmlessText(Buffer.concat([start, end])), totalBytes, droppedBytes };
      const text = `${harmlessText(start)}\n[evoweb: ${droppedBytes} bytes left out]\n${harmlessText(end)}`;
      return { text, totalBytes, droppedBytes };
    },
  };
}

// oxlint-disable no-control-regex -- control characters are what is being removed
const TERMINAL_SEQUENCE =
  /\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b[ -/]{0,8}[0-~]/gu;
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu;
// oxlint-enable no-control-regex

/**
 * Bytes of a stranger's output as text that no terminal or report obeys: invalid UTF-8 and control characters other than
 * newline and tab become U+FFFD, terminal sequences vanish, carriage returns become newlines.
 */
export function harmlessText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true })
    .decode(bytes)
    .replaceAll("\r\n", "\n")
    .replaceAll("\r", "\n")
    .replaceAll(TERMINAL_SEQUENCE, "")
    .replaceAll(CONTROL_CHARACTER, "\uFFFD");
}
