import { readdirSync, readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

interface ProcessEntry {
  readonly pid: string;
  readonly parent: string;
}

function processes(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return [{ pid, parent: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "" }];
      } catch {
        return [];
      }
    });
}

/** Resident bytes of all descendants of this process that are Chromium's, shared pages counted in each. */
function browserBytes(): number {
  const all = processes();
  const mine = new Set([String(process.pid)]);
  // A child may be listed before its parent, so go on until nothing is added.
  for (let before = 0; before !== mine.size;) {
    before = mine.size;
    for (const { pid, parent } of all) if (mine.has(parent)) mine.add(pid);
  }
  mine.delete(String(process.pid));
  let bytes = 0;
  for (const pid of mine) {
    try {
      if (!/chrom/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").slice(0, 200))) continue;
      bytes += Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
    } catch {
      // Ended meanwhile.
    }
  }
  return bytes;
}

/** Samples `browserBytes` until disposed; `peak()` is the largest. */
export function watchBrowserMemory(everyMs: number): Disposable & { peak(): number } {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, browserBytes())), everyMs);
  return { peak: () => peak, [Symbol.dispose]: () => clearInterval(timer) };
}
