import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { EvowebError } from "../errors.ts";
import { harmlessText } from "./output-buffer.ts";

/** How long a process may stay after SIGKILL before the sandbox gives up: longer means stuck in the kernel. */
const KILL_LIMIT_MS = 10_000;
const POLL_MS = 20;
const COMMAND_LINE_CHARS = 200;

/** A live process as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly hasTerminal: boolean;
  readonly startTicks: number;
}

/** What makes a process belong to a place or to one command of it. */
export interface Belonging {
  /** "NAME=VALUE" (then NUL where the value ends) in the environment the process was started with. */
  readonly marker: string;
  /** Absolute folder; who works in it without a terminal belongs, even with an emptied environment. */
  readonly folder?: string;
  /** Sessions that were started for it; those with no process left are dropped here. */
  readonly sessions: Set<number>;
  /** Processes that started earlier (clock ticks since boot) are nobody's. */
  readonly sinceTicks: number;
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    // Gone meanwhile, or somebody else's.
    return null;
  }
}

/** One process, or null when it is gone or a zombie. */
function processInfo(pid: number): ProcessInfo | null {
  const stat = readOrNull(`/proc/${pid}/stat`)?.toString("latin1");
  if (stat === undefined) return null;
  // The command name (field 2) may hold blanks and parentheses: field 3 follows the last ")".
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  if (state === "Z" || state === "X") return null;
  const number = (index: number): number => Number(fields[index]);
  return { pid, parent: number(1), session: number(3), hasTerminal: number(4) !== 0, startTicks: number(19) };
}

function allProcesses(): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const name of readdirSync("/proc")) {
    const info = /^\d+$/.test(name) ? processInfo(Number(name)) : null;
    if (info !== null) found.push(info);
  }
  return found;
}

/** Clock ticks since boot at which this very process started. */
export function ownStartTicks(): number {
  return processInfo(process.pid)?.startTicks ?? 0;
}

const hasMarker = (pid: number, marker: string): boolean =>
  readOrNull(`/proc/${pid}/environ`)?.includes(marker, 0, "latin1") ?? false;

function worksIn(pid: number, folder: string): boolean {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return cwd === folder || cwd.startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

function isMarked(info: ProcessInfo, belonging: Belonging): boolean {
  if (belonging.sessions.has(info.session)) return true;
  if (info.startTicks < belonging.sinceTicks) return false;
  if (hasMarker(info.pid, belonging.marker)) return true;
  return belonging.folder !== undefined && !info.hasTerminal && worksIn(info.pid, belonging.folder);
}

/** Every process that belongs: marked ones, all of their sessions, and all of their descendants. Never this process. */
export function findProcesses(belonging: Belonging): readonly ProcessInfo[] {
  const all = allProcesses();
  const own = all.find((info) => info.pid === process.pid);
  const others = all.filter((info) => info.pid > 1 && info.session !== own?.session);
  for (const session of belonging.sessions) {
    if (!others.some((info) => info.session === session)) belonging.sessions.delete(session);
  }
  const members = new Map<number, ProcessInfo>();
  const sessions = new Set(belonging.sessions);
  let rest = others;
  let isJoining = (info: ProcessInfo): boolean => isMarked(info, belonging);
  for (;;) {
    const joining = rest.filter((info) => isJoining(info));
    if (joining.length === 0) return [...members.values()];
    for (const info of joining) {
      members.set(info.pid, info);
      sessions.add(info.session);
    }
    rest = rest.filter((info) => !members.has(info.pid));
    isJoining = (info) => members.has(info.parent) || sessions.has(info.session);
  }
}

function commandLine(pid: number): string {
  const bytes = readOrNull(`/proc/${pid}/cmdline`) ?? Buffer.alloc(0);
  return harmlessText(bytes.map((byte) => (byte === 0 ? 0x20 : byte)))
    .trim()
    .slice(0, COMMAND_LINE_CHARS);
}

function signalAll(processes: readonly ProcessInfo[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone meanwhile; the next look tells.
    }
  }
}

/**
 * Ends what `find` finds, again and again until it finds nothing: SIGTERM and `graceMs` first (0: none), then SIGKILL.
 * Returns the command lines met. Throws `EvowebError("sandbox")` when some process outlives SIGKILL by 10 s.
 */
export async function endProcesses(find: () => readonly ProcessInfo[], graceMs: number): Promise<string[]> {
  const met = new Map<string, string>();
  const look = (): readonly ProcessInfo[] => {
    const found = find();
    for (const { pid, startTicks } of found) {
      const key = `${pid}:${startTicks}`;
      if (!met.has(key)) met.set(key, commandLine(pid));
    }
    return found;
  };
  let left = look();
  const killAt = Date.now() + graceMs;
  if (graceMs > 0) signalAll(left, "SIGTERM");
  while (left.length > 0 && Date.now() < killAt) {
    await delay(POLL_MS);
    left = look();
  }
  const giveUpAt = Date.now() + KILL_LIMIT_MS;
  while (left.length > 0) {
    signalAll(left, "SIGKILL");
    if (Date.now() > giveUpAt) {
      const names = left.map(({ pid }) => `${pid} (${commandLine(pid)})`).join(", ");
      throw new EvowebError("sandbox", `Processes survive SIGKILL: ${names}. End them by hand, then resume the run.`);
    }
    await delay(POLL_MS / 4);
    left = look();
  }
  return [...met.values()];
}
