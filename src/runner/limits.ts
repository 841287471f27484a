import type { RunOptions } from "./options.ts";
import type { PlaceLimits } from "./sandbox.ts";

/** Bounds of every place of a run. */
export function limitsOf({ memoryMb, cpus, pids }: RunOptions): PlaceLimits {
  return { memoryBytes: memoryMb * 1024 * 1024, cpus, pids };
}
