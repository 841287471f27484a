import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, Owner, thisOwner } from "../lease.ts";

const POLL_MS = 250;

async function ownerOf(path: string): Promise<Owner | undefined> {
  try {
    return Owner.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    // Gone again, or not yet fully written by its maker.
    return undefined;
  }
}

async function tryTake(path: string): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(thisOwner()), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const owner = await ownerOf(path);
  if (owner !== undefined && !isAlive(owner)) await rm(path, { force: true });
  return false;
}

/** Runs `work` while no other process of this machine does so under the same name; the lock of a dead process is taken over. */
export async function withLock<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `evoweb-${name}.lock`);
  while (!(await tryTake(path))) await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}
