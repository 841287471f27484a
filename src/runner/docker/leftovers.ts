import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, Owner } from "../lease.ts";
import { asking, connectEngine } from "./engine.ts";
import type { EngineOptions } from "./engine.ts";
import { isLeftover, OWNER_LABEL } from "./labels.ts";
import { removeContainer, removeVolume } from "./volumes.ts";

/** Folders for sockets begin so. */
export const SOCKET_FOLDER_PREFIX = "evw-";
/** In each of them: the process it belongs to. */
export const OWNER_FILE = "owner.json";

/** What was removed, by name; each list is empty when there was nothing. */
export interface DockerLeftovers {
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
  readonly folders: readonly string[];
}

/** Where to look. */
export interface LeftoverOptions extends EngineOptions {
  /** As given to `openDockerSandbox`. */
  readonly socketFolder?: string;
}

async function deadFolders(parent: string): Promise<string[]> {
  const dead: string[] = [];
  for (const name of await readdir(parent)) {
    if (!name.startsWith(SOCKET_FOLDER_PREFIX)) continue;
    const folder = join(parent, name);
    const stats = await lstat(folder).catch(() => undefined);
    if (stats?.isDirectory() !== true || stats.uid !== process.getuid?.()) continue;
    try {
      const owner = Owner.parse(JSON.parse(await readFile(join(folder, OWNER_FILE), "utf8")));
      if (!isAlive(owner)) dead.push(folder);
    } catch {
      // Somebody else's, or about to be filled: not ours to remove.
    }
  }
  return dead;
}

/**
 * Removes containers, volumes and socket folders whose process has died, and keeps those of living ones (and of other
 * machines that use the same engine). Throws `EvowebError("docker")`.
 */
export async function cleanDockerLeftovers(options: LeftoverOptions = {}): Promise<DockerLeftovers> {
  const docker = connectEngine(options);
  const filters = { label: [OWNER_LABEL] };
  const containers = (await asking("listing containers", () => docker.listContainers({ all: true, filters }))).filter(
    ({ Labels }) => isLeftover(Labels),
  );
  for (const { Id } of containers) await removeContainer(docker, Id);
  const { Volumes } = await asking("listing volumes", () => docker.listVolumes({ filters }));
  const volumes = Volumes.filter(({ Labels }) => isLeftover(Labels));
  for (const { Name } of volumes) await removeVolume(docker, Name);
  const folders = await deadFolders(options.socketFolder ?? tmpdir());
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  return {
    containers: containers.map(({ Names }) => Names[0]?.replace(/^\//, "") ?? ""),
    volumes: volumes.map(({ Name }) => Name),
    folders,
  };
}
