import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const BEAT_MS = 2000;
// A holder that has not shown a sign of life for this long is dead: five beats were missed.
const DEAD_AFTER_MS = 5 * BEAT_MS;
const POLL_MS = 50;

/**
 * Holds `file` as a lock between processes until disposed; waits while another process lives that holds it. A lock whose
 * holder died is taken over. What it guards must stay right if two ever hold it: this saves work, it decides nothing.
 */
export async function lockFile(file: string, signal: AbortSignal): Promise<AsyncDisposable> {
  await mkdir(path.dirname(file), { recursive: true });
  while (!(await create(file))) {
    await setDeadAside(file);
    await wait(POLL_MS, undefined, { signal });
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, BEAT_MS);
  beat.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(beat);
      await rm(file, { force: true });
    },
  };
}

async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, "wx")).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function setDeadAside(file: string): Promise<void> {
  const info = await stat(file).catch(() => null);
  if (info === null || Date.now() - info.mtimeMs < DEAD_AFTER_MS) return;
  const aside = `${file}.${randomBytes(6).toString("hex")}.dead`;
  // Only one of those who see the dead lock can move it.
  await rename(file, aside).catch(() => undefined);
  await rm(aside, { force: true });
}
