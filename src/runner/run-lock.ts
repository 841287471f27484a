import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EvowebError } from "../errors.ts";
import { isAlive, Owner, thisOwner } from "./lease.ts";

const LOCK = "lock.json";

/** A claim on a run folder: while it lives, no other process can write there. */
export interface RunLock extends Disposable {
  readonly owner: Owner;
}

/**
 * Claims a run folder for this process. Throws `EvowebError("locked")` naming the holder when another living process has it;
 * the claim of a dead one is taken over.
 */
export function lockRunFolder(dir: string): RunLock {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, LOCK);
  const owner = thisOwner();
  const mine = join(dir, `lock.${randomBytes(6).toString("hex")}.tmp`);
  writeFileSync(mine, `${JSON.stringify(owner)}\n`);
  try {
    if (!tryLink(mine, path)) {
      setDeadAside(dir, path);
      if (!tryLink(mine, path)) throw held(dir, readOwner(path));
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return {
    owner,
    [Symbol.dispose]: () => {
      rmSync(path, { force: true });
    },
  };
}

// A hard link is made or refused in one step, on every file system we can meet.
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function setDeadAside(dir: string, path: string): void {
  const before = readOwner(path);
  if (before !== null && isAlive(before)) throw held(dir, before);
  const aside = join(dir, `lock.${randomBytes(6).toString("hex")}.dead`);
  try {
    renameSync(path, aside);
  } catch {
    return; // Somebody else was faster; the next link decides.
  }
  const moved = readOwner(aside);
  // Between the look and the move a third process may have taken over the dead claim: give it back.
  if (moved !== null && isAlive(moved)) tryLink(aside, path);
  rmSync(aside, { force: true });
}

/** The living process that writes a folder, or null. */
export function readLockHolder(dir: string): Owner | null {
  const owner = readOwner(join(dir, LOCK));
  return owner !== null && isAlive(owner) ? owner : null;
}

function readOwner(path: string): Owner | null {
  try {
    return Owner.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}

function held(dir: string, owner: Owner | null): EvowebError {
  const who = owner === null ? "another process" : `process ${owner.pid} on ${owner.host}`;
  return new EvowebError("locked", `${dir} is being written by ${who}; wait for it, or give another --out`);
}
