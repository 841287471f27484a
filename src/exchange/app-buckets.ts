import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAX_BUFFERED = 50_000;

/**
 * Sorts records by app without holding them all: beyond a fixed number they go to temporary files, which disposal removes. A record
 * must not hold a line feed.
 */
export class AppBuckets implements Disposable {
  private readonly buffered = new Map<number, string[]>();
  private count = 0;
  private dir: string | null = null;

  /** Adds a record to an app. */
  add(sampleIndex: number, record: string): void {
    const records = this.buffered.get(sampleIndex);
    if (records === undefined) this.buffered.set(sampleIndex, [record]);
    else records.push(record);
    this.count += 1;
    if (this.count >= MAX_BUFFERED) this.spill();
  }

  /** The records of an app, in the order in which they were added. */
  take(sampleIndex: number): readonly string[] {
    const buffered = this.buffered.get(sampleIndex) ?? [];
    if (this.dir === null) return buffered;
    const path = join(this.dir, String(sampleIndex));
    if (!existsSync(path)) return buffered;
    return [...readFileSync(path, "utf8").split("\n").slice(0, -1), ...buffered];
  }

  private spill(): void {
    this.dir ??= mkdtempSync(join(tmpdir(), "evoweb-import-"));
    for (const [sampleIndex, records] of this.buffered) {
      appendFileSync(join(this.dir, String(sampleIndex)), `${records.join("\n")}\n`);
    }
    this.buffered.clear();
    this.count = 0;
  }

  [Symbol.dispose](): void {
    if (this.dir !== null) rmSync(this.dir, { recursive: true, force: true });
  }
}
