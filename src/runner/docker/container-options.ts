import { existsSync } from "node:fs";
import type Docker from "dockerode";
import type { PlaceOptions } from "../sandbox.ts";
import { placeEnvironment } from "./environment.ts";
import { WORKSPACE } from "./image-recipe.ts";
import type { Ownership } from "./labels.ts";
import { GUARD_ARGV, relayArgv } from "./programs.ts";

/** User of the relay where the harness is root. */
export const RELAY_UID = 65532;
const GUARD_UID = 65533;
const SIDECAR_MEMORY_BYTES = 256 * 1024 * 1024;
const SIDECAR_PIDS = 64;

/** What all places of a sandbox share. */
export interface PlaceContext {
  readonly docker: Docker;
  readonly image: string;
  readonly ownership: Ownership;
  /** Folder of this process alone, for sockets. */
  readonly socketFolder: string;
  /** PEM text of extra certificate authorities. */
  readonly ca?: string;
}

/** The relay must be able to listen in a folder of ours: as root we give it one, otherwise it runs as we do. */
const relayUser = (): string =>
  process.getuid?.() === 0 ? `${RELAY_UID}:${RELAY_UID}` : `${process.getuid?.() ?? ""}:${process.getgid?.() ?? ""}`;

/** A kernel started without IPv6 refuses containers that set this. Elsewhere than on Linux the engine has a kernel of its own. */
const hasIpv6 = (): boolean => process.platform !== "linux" || existsSync("/proc/sys/net/ipv6/conf/all/disable_ipv6");

const HARDENING = {
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  Init: true,
  AutoRemove: true,
  LogConfig: { Type: "none", Config: {} },
};

/** The container of the relay, which alone has folders of the host. */
export function sidecarOptions(
  context: PlaceContext,
  labels: Record<string, string>,
  binds: string[],
): Docker.ContainerCreateOptions {
  return {
    Image: context.image,
    Cmd: relayArgv(),
    User: relayUser(),
    Labels: labels,
    Hostname: "evoweb",
    WorkingDir: "/",
    HostConfig: {
      ...HARDENING,
      NetworkMode: "none",
      ReadonlyRootfs: true,
      // Without this a place has no ::1, and programs that listen on localhost behave unlike on a normal machine.
      ...(hasIpv6() ? { Sysctls: { "net.ipv6.conf.all.disable_ipv6": "0" } } : {}),
      Memory: SIDECAR_MEMORY_BYTES,
      MemorySwap: SIDECAR_MEMORY_BYTES,
      PidsLimit: SIDECAR_PIDS,
      Binds: binds,
    },
  };
}

/** What differs from place to place. */
interface AppSpec {
  readonly labels: Record<string, string>;
  readonly limits: PlaceOptions["limits"];
  readonly sidecarId: string;
  readonly treeVolume: string;
}

/** The container that agents and apps run in; it shares the relay's network and nothing else. */
export function appOptions(context: PlaceContext, spec: AppSpec): Docker.ContainerCreateOptions {
  return {
    Image: context.image,
    Cmd: [...GUARD_ARGV],
    // Not the user of agents and apps: they must not be able to end the main process.
    User: `${GUARD_UID}:${GUARD_UID}`,
    Labels: spec.labels,
    WorkingDir: WORKSPACE,
    Env: Object.entries(placeEnvironment(context.ca !== undefined)).map(([name, value]) => `${name}=${value}`),
    HostConfig: {
      ...HARDENING,
      NetworkMode: `container:${spec.sidecarId}`,
      Memory: spec.limits.memoryBytes,
      MemorySwap: spec.limits.memoryBytes,
      NanoCpus: Math.round(spec.limits.cpus * 1e9),
      PidsLimit: spec.limits.pids,
      // An overlay has its content already and its upper folder is not to be filled from the image.
      Binds: [`${spec.treeVolume}:${WORKSPACE}:nocopy`],
    },
  };
}
