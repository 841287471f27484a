import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isAlive, Owner } from "./lease.ts";
import { removeTree } from "./local-tree.ts";
import { endProcesses, findProcesses } from "./processes.ts";

/** Folders of local sandboxes begin with this. */
export const LOCAL_FOLDER_PREFIX = "evoweb-local-";
/** File in such a folder that says whose it is. */
export const OWNER_FILE = "owner.json";
/** Environment variable that marks the processes of a place: "FOLDER/NUMBER". */
export const PLACE_VARIABLE = "EVOWEB_PLACE";

const GRACE_MS = 500;
const OwnerFile = z.object({ owner: Owner, runId: z.string() });

/** A removed leftover: the folder it had, and the run it came from. */
export interface LocalLeftover {
  readonly folder: string;
  readonly runId: string;
  /** Command lines of processes that were still running. */
  readonly processes: readonly string[];
}

async function deadOwnersRun(folder: string): Promise<string | undefined> {
  const stats = await lstat(folder).catch(() => undefined);
  // Somebody else's folder of the same name is none of our business.
  if (stats?.isDirectory() !== true || stats.uid !== process.getuid?.()) return undefined;
  const text = await readFile(join(folder, OWNER_FILE), "utf8").catch(() => "");
  try {
    const file = OwnerFile.parse(JSON.parse(text));
    return isAlive(file.owner) ? undefined : file.runId;
  } catch {
    // Without a readable owner nobody can say that it is a leftover.
    return undefined;
  }
}

/** Removes folders and processes of local sandboxes whose owner died. `tmpDir` as in `openLocalSandbox`. */
export async function cleanLocalLeftovers(tmpDir: string = tmpdir()): Promise<readonly LocalLeftover[]> {
  const base = await realpath(tmpDir);
  const removed: LocalLeftover[] = [];
  for (const name of await readdir(base)) {
    const folder = join(base, name);
    const runId = name.startsWith(LOCAL_FOLDER_PREFIX) ? await deadOwnersRun(folder) : undefined;
    if (runId === undefined) continue;
    const belonging = { marker: `${PLACE_VARIABLE}=${name}/`, folder, sessions: new Set<number>(), sinceTicks: 0 };
    const processes = await endProcesses(() => findProcesses(belonging), GRACE_MS);
    await removeTree(folder);
    removed.push({ folder, runId, processes });
  }
  return removed;
}
