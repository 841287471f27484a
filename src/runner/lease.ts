import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";

/** Identifies one living process across restarts and pid reuse; what it owns is a leftover once it is gone. */
export const Owner = z.object({
  host: z.string(),
  pid: z.int().min(1),
  /** Field 22 of /proc/PID/stat (clock ticks since boot); empty where there is no /proc. */
  startTicks: z.string(),
  /** Changes with every boot of the host; empty where there is no /proc. */
  bootId: z.string(),
});
export type Owner = z.infer<typeof Owner>;

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return fallback;
  }
}

function startTicks(pid: number): string {
  // The command name (field 2) may hold blanks and parentheses, so count from the last ")": field 3 follows it.
  const stat = readOr(`/proc/${pid}/stat`, "");
  return (
    stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .at(19) ?? ""
  );
}

const bootId = (): string => readOr("/proc/sys/kernel/random/boot_id", "").trim();

/** This process as an owner. */
export function thisOwner(): Owner {
  return { host: hostname(), pid: process.pid, startTicks: startTicks(process.pid), bootId: bootId() };
}

/** Whether an owner still lives. An owner on another host cannot be looked at and counts as alive. */
export function isAlive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true;
  if (owner.bootId !== bootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return startTicks(owner.pid) === owner.startTicks;
}
