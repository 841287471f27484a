import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { requestDir } from "./app-trace.ts";
import type { CanaryWatch } from "./canaries.ts";
import type { Gateway } from "./gateway/gateway.ts";
import type { Place } from "./sandbox.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import { readTar } from "./tar.ts";

/** What looks on while an agent works on one app. */
export interface TurnWatch {
  /** Null when no calls pass it. */
  readonly gateway: Gateway | null;
  readonly canaries: CanaryWatch;
  /** What stands in a trajectory of the agent. */
  readonly agent: { readonly name: string; readonly version: string; readonly model: string | null };
  /** Whether it runs programs of its own, so that there is something to look at. */
  readonly hasOwnPrograms: boolean;
  /** Whether it keeps something outside the workspace from one request to the next. */
  readonly hasState: boolean;
}

const MAX_LOOKED_AT_BYTES = 2 * 1024 * 1024;

/** Looks for canaries in every file of a snapshot; files that were looked at before cost next to nothing. */
export async function lookAtSnapshot(canaries: CanaryWatch, store: SnapshotStore, sha: string): Promise<void> {
  for await (const entry of readTar(await store.toTar(sha))) {
    const { type, size } = entry.header;
    if (type !== "file" || (size ?? 0) > MAX_LOOKED_AT_BYTES) entry.drain();
    else canaries.look(await text(entry.body));
  }
}

const statePath = (dir: string, request: number): string => join(dir, requestDir(request), "agent-state.tar.gz");

/** Keeps what the agent has outside the workspace, as it is after a request. */
export async function saveState(place: Place, dir: string, request: number): Promise<void> {
  const path = statePath(dir, request);
  mkdirSync(dirname(path), { recursive: true });
  try {
    await pipeline(await place.readState(), createGzip({ level: 1 }), createWriteStream(`${path}.part`));
    renameSync(`${path}.part`, path);
  } finally {
    rmSync(`${path}.part`, { force: true });
  }
}

/** Brings the agent's own files back to what they were after a request; to nothing when there is none. */
export async function restoreState(place: Place, dir: string, request: number): Promise<void> {
  const path = statePath(dir, request);
  const stored = request > 0 && existsSync(path) ? (createReadStream(path).pipe(createGunzip()) as Readable) : null;
  await place.replaceState(stored);
}
