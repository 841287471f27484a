import { mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Download, Page } from "playwright";
import { messageOf } from "../errors.ts";
import { settledWithin } from "./browser-process.ts";
import type { PageNotes } from "./page-notes.ts";

const MAX_DOWNLOADS = 20;
const HEAD_BYTES = 300;
const FINISH_MS = 1000;

/** The downloads of one session: those that end in time and size are kept in the check's folder under `downloads/`. */
export interface Downloads {
  readonly files: readonly string[];
  watch(page: Page): void;
  /** Gives running downloads a moment, then cancels them; resolves when every file is in place. */
  finish(): Promise<void>;
}

/** A name that is harmless in a folder: no separators, no leading dot, numbered, at most 80 characters of the original. */
export function safeFileName(index: number, suggested: string): string {
  const name = suggested.replaceAll(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._]+/, "");
  return `${String(index).padStart(2, "0")}-${name.slice(-80) || "file"}`;
}

/** Where the browser writes the file meanwhile. `path()` says so only at the end, too late to stop one that never ends. */
function partialPath(download: Download): string | undefined {
  const { _artifact: artifact } = download as unknown as { _artifact?: { _initializer?: { absolutePath?: string } } };
  return artifact?._initializer?.absolutePath;
}

async function stopWhenTooLarge(download: Download, maxBytes: number, signal: AbortSignal): Promise<boolean> {
  const path = partialPath(download) ?? "";
  while (!signal.aborted) {
    const size = await stat(path).then(
      (entry) => entry.size,
      () => 0,
    );
    if (size > maxBytes) {
      await download.cancel();
      return true;
    }
    await delay(100, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function headOf(path: string): Promise<string> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return JSON.stringify(buffer.subarray(0, bytesRead).toString("utf8"));
}

/** `maxBytes` bounds each file. */
export function createDownloads(folder: string, maxBytes: number, notes: PageNotes): Downloads {
  const files: string[] = [];
  const running = new Map<Download, Promise<void>>();
  let started = 0;

  const keep = async (download: Download, name: string): Promise<void> => {
    const label = `"${download.suggestedFilename()}"`;
    const watching = new AbortController();
    const tooLarge = stopWhenTooLarge(download, maxBytes, watching.signal);
    const failure = await download.failure();
    watching.abort();
    if (await tooLarge) return notes.add("download", `${label}: stopped, larger than ${maxBytes} bytes`);
    if (failure !== null) return notes.add("download", `${label}: not finished (${failure})`);
    const path = join(folder, "downloads", name);
    const { size } = await stat(await download.path());
    if (size > maxBytes) return notes.add("download", `${label}: ${size} bytes, not kept (limit ${maxBytes})`);
    await mkdir(join(folder, "downloads"), { recursive: true });
    await download.saveAs(path);
    files.push(`downloads/${name}`);
    notes.add("download", `${label}: ${size} bytes, kept as downloads/${name}, begins ${await headOf(path)}`);
  };

  const begin = (download: Download): void => {
    started += 1;
    if (started > MAX_DOWNLOADS) {
      notes.add("download", `"${download.suggestedFilename()}": refused, more than ${MAX_DOWNLOADS} downloads`);
      download.cancel().catch(() => undefined);
      return;
    }
    const work = keep(download, safeFileName(started, download.suggestedFilename()))
      .catch((error: unknown) => notes.add("download", `"${download.suggestedFilename()}": ${messageOf(error)}`))
      .finally(() => running.delete(download));
    running.set(download, work);
  };

  return {
    files,
    watch: (page) => void page.on("download", begin),
    finish: async () => {
      if (await settledWithin(Promise.all(running.values()), running.size === 0 ? 0 : FINISH_MS)) return;
      const cancelled = [...running.keys()].map((download) => download.cancel().catch(() => undefined));
      await settledWithin(Promise.all([...cancelled, ...running.values()]), FINISH_MS);
    },
  };
}
