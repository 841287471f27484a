import { EvowebError } from "../../errors.ts";

const HEADER_BYTES = 8;
// The engine copies output in pieces of at most 32 KiB; anything far above is text that was taken for a length.
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Which output a piece belongs to. */
export type OutputKind = "stdout" | "stderr";

const KINDS: Readonly<Record<number, OutputKind | "error">> = { 0: "stdout", 1: "stdout", 2: "stderr", 3: "error" };

/**
 * Takes apart the engine's stream of framed output: 8 bytes (kind, three zeros, length), then the payload.
 * Pieces are handed on as they come, cut anywhere. Throws `EvowebError("docker")` at the first header that is none.
 */
export class FrameReader {
  readonly #onPiece: (kind: OutputKind, piece: Buffer) => void;
  #header = Buffer.alloc(0);
  #kind: OutputKind | "error" = "stdout";
  #left = 0;
  #framesSeen = 0;
  #engineError = "";

  constructor(onPiece: (kind: OutputKind, piece: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  /** Takes the next bytes of the stream, in pieces of any size. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const piece = bytes.subarray(at, at + this.#left);
        this.#left -= piece.length;
        at += piece.length;
        this.#take(piece);
      } else {
        const missing = bytes.subarray(at, at + HEADER_BYTES - this.#header.length);
        this.#header = Buffer.concat([this.#header, missing]);
        at += missing.length;
        if (this.#header.length === HEADER_BYTES) this.#readHeader();
        else this.#refuseText();
      }
    }
  }

  /** To be called when the stream has ended. Throws `EvowebError("docker")` when it ended within a frame. */
  end(): void {
    if (this.#engineError !== "") {
      throw new EvowebError("docker", `The Docker engine reported in the output stream: ${this.#engineError.trim()}`);
    }
    if (this.#left > 0 || this.#header.length > 0) {
      throw new EvowebError(
        "docker",
        "The output stream of a command broke off within a frame; was the engine stopped?",
      );
    }
  }

  #take(piece: Buffer): void {
    if (this.#kind === "error") this.#engineError += piece.toString("utf8");
    else this.#onPiece(this.#kind, piece);
  }

  #refuseText(): void {
    // A short text without frames must not wait for a header that never comes.
    if (KINDS[this.#header[0] ?? 0] === undefined) this.#refuse();
  }

  #refuse(): never {
    const where = this.#framesSeen === 0 ? "has no frames" : `lost its frames after ${this.#framesSeen} of them`;
    throw new EvowebError(
      "docker",
      `The output stream of a command ${where}: bytes ${this.#header.toString("hex")} are no frame header. ` +
        "Does the container have a terminal (tty), or does a proxy before the engine change the stream?",
    );
  }

  #readHeader(): void {
    const kind = KINDS[this.#header[0] ?? -1];
    const hasZeros = this.#header[1] === 0 && this.#header[2] === 0 && this.#header[3] === 0;
    const length = this.#header.readUInt32BE(4);
    if (kind === undefined || !hasZeros || length > MAX_FRAME_BYTES) this.#refuse();
    this.#kind = kind;
    this.#left = length;
    this.#framesSeen += 1;
    this.#header = Buffer.alloc(0);
  }
}
