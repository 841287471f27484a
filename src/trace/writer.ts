import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { EvowebError, messageOf } from "../errors.ts";

/** Appends JSON lines to one file. */
export interface TraceWriter extends Disposable {
  /** Appends one record as one line, handed to the system before it returns. Throws `io`; the writer is useless after that. */
  append(record: object): void;
  /** Forces everything appended so far onto the disk; called at request ends. Throws `io`. */
  sync(): void;
}

const NEWLINE = 10;

function endsInsideLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

function writeAll(fd: number, bytes: Buffer): void {
  // A full disk may take a part of a line and refuse the rest only at the next call.
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

class FileWriter implements TraceWriter {
  private readonly path: string;
  private readonly mask: (line: string) => string;
  private fd: number | null;
  private hasFailed = false;

  constructor(path: string, mask: (line: string) => string) {
    this.path = path;
    this.mask = mask;
    this.fd = this.attempt("open", () => openSync(path, "a+"));
    try {
      this.attempt("write", (fd) => {
        // What a kill left of the last line must not swallow the next record.
        if (endsInsideLine(fd)) writeAll(fd, Buffer.from("\n"));
      });
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  append(record: object): void {
    const line = this.mask(JSON.stringify(record));
    this.attempt("write", (fd) => writeAll(fd, Buffer.from(`${line}\n`)));
  }

  sync(): void {
    this.attempt("sync", (fd) => fdatasyncSync(fd));
  }

  [Symbol.dispose](): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }

  private attempt<T>(what: string, action: (fd: number) => T): T {
    // A line may be half on the disk after a failure; writing on would glue the next one to it.
    if (this.hasFailed)
      throw new EvowebError("io", `${this.path} cannot be written any more after an earlier failure.`);
    try {
      return action(this.fd ?? -1);
    } catch (error) {
      this.hasFailed = true;
      const advice = "Free space or make it writable, then go on with --resume; what was written before is kept.";
      throw new EvowebError("io", `cannot ${what} ${this.path}: ${messageOf(error)}. ${advice}`, { cause: error });
    }
  }
}

/**
 * Opens a file for appending JSON lines, one synchronous write a line. Where the file ends inside a line, a new line is begun first,
 * so that only the torn record is lost. `mask` is applied to every line before it is written. Throws `io`.
 */
export function openTraceWriter(path: string, mask: (line: string) => string = (line) => line): TraceWriter {
  return new FileWriter(path, mask);
}
