import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EvowebError, messageOf } from "../errors.ts";
import type { FileRef, TraceEvent, TraceFact } from "../trace/event.ts";
import type { Mask } from "../trace/mask.ts";
import type { TraceWriter } from "../trace/writer.ts";

/** Writes one app's trace and evidence files; everything is masked before it reaches the disk. */
export interface AppTrace {
  /** The app's folder. */
  readonly dir: string;
  readonly sampleIndex: number;
  /** Appends one event; the fact gets version, time, app, attempt and fence. */
  emit(attempt: number, fact: TraceFact): void;
  /** Writes a text file below the app's folder and returns its reference. */
  writeText(path: string, text: string): FileRef;
  /** The reference of a file that somebody else has written below the app's folder. */
  refer(path: string): FileRef;
  /** Forces everything appended so far onto the disk. */
  sync(): void;
}

/** What an AppTrace needs. */
export interface AppTraceOptions {
  readonly dir: string;
  readonly sampleIndex: number;
  readonly fence: number;
  readonly writer: TraceWriter;
  readonly mask: Mask;
  readonly listen: (event: TraceEvent) => void;
}

export function createAppTrace({ dir, sampleIndex, fence, writer, mask, listen }: AppTraceOptions): AppTrace {
  return {
    dir,
    sampleIndex,
    emit(attempt, fact) {
      const event = { v: 1, time: new Date().toISOString(), sampleIndex, attempt, fence, ...fact } as TraceEvent;
      writer.append(event);
      listen(event);
    },
    writeText(path, text) {
      const full = join(dir, path);
      const bytes = Buffer.from(mask(text));
      try {
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, bytes);
      } catch (error) {
        throw new EvowebError("io", `cannot write ${full}: ${messageOf(error)}. Free some space, then use --resume`, {
          cause: error,
        });
      }
      return { path, sha256: sha256(bytes) };
    },
    refer(path) {
      return { path, sha256: sha256(readFileSync(join(dir, path))) };
    },
    sync: () => writer.sync(),
  };
}

/** Hex SHA-256 of bytes or of a text's UTF-8. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Folder of a request's evidence, relative to the app's folder. */
export function requestDir(request: number): string {
  return `request-${String(request).padStart(2, "0")}`;
}

/** Folder of an attempt's logs, relative to the app's folder; later attempts have one of their own, so that none is lost. */
export function attemptDir(request: number, attempt: number): string {
  return attempt === 1 ? requestDir(request) : `${requestDir(request)}/attempt-${String(attempt).padStart(2, "0")}`;
}
