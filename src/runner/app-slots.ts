import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";
import type { RunOptions } from "./options.ts";

/** What decides how many apps go at a time. */
export interface Room {
  /** Memory that can be had without swapping, in MB. */
  readonly availableMb: number;
  readonly cores: number;
  /** What a place may take, in MB. */
  readonly memoryMb: number;
  /** True when agents mostly wait for a model. */
  readonly waitsForModel: boolean;
  readonly apps: number;
}

// For evoweb itself, the browser and the checks, which have places of their own.
const RESERVED_MB = 1024;
const MOST = 64;

/** Apps at a time for the room there is; at least 1. */
export function appsForRoom({ availableMb, cores, memoryMb, waitsForModel, apps }: Room): number {
  const byMemory = Math.floor((availableMb - RESERVED_MB) / memoryMb);
  // Whoever waits for a model needs no core meanwhile; the others keep the cores busy with one app over.
  const byCores = waitsForModel ? 4 * cores : cores + 1;
  return Math.max(1, Math.min(byMemory, byCores, apps, MOST));
}

/**
 * Apps at a time for these options: the number that was asked for, or for "auto" what the machine has room for now, with what it
 * was chosen from.
 */
export function choosePace(
  { concurrency, workers, memoryMb }: Pick<RunOptions, "concurrency" | "workers" | "memoryMb">,
  run: Pick<Room, "waitsForModel" | "apps">,
): { readonly workers: number; readonly room?: Room } {
  if (concurrency !== "auto") return { workers: concurrency ?? workers };
  const room = { ...measureRoom(), memoryMb, ...run };
  return { workers: appsForRoom(room), room };
}

function measureRoom(): Pick<Room, "availableMb" | "cores"> {
  return { availableMb: Math.floor(availableBytes() / 2 ** 20), cores: availableParallelism() };
}

// What the kernel can take back from its caches is free for us; only Linux says it.
function availableBytes(): number {
  try {
    const [, kb] = /^MemAvailable:\s+(\d+) kB$/mu.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
    return kb === undefined ? freemem() : Number(kb) * 1024;
  } catch {
    return freemem();
  }
}
