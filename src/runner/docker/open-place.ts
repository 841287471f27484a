import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import { Readable } from "node:stream";
import { EvowebError, messageOf } from "../../errors.ts";
import { CleanupStack } from "../cleanup-stack.ts";
import { EgressProxy } from "../egress-proxy.ts";
import type { PlaceOptions } from "../sandbox.ts";
import { asking, statusOf } from "./engine.ts";
import { CA_PATH, caBundle, placeEnvironment } from "./environment.ts";
import { LAYER, WORKSPACE } from "./image-recipe.ts";
import { labelsFor } from "./labels.ts";
import type { Ownership } from "./labels.ts";
import { GUARD_ARGV, relayArgv } from "./programs.ts";
import { checkSocketPath, listenOn, SidecarLink } from "./sidecar-link.ts";
import { createOverlay, createVolume, removeContainer, removeVolume } from "./volumes.ts";
import type { Volume } from "./volumes.ts";

const READY_TIMEOUT_MS = 30_000;
const RELAY_UID = 65532;
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

/** The parts of an open place, each with the way to let go of it. */
export interface PlaceParts extends AsyncDisposable {
  readonly sidecar: Docker.Container;
  readonly app: Docker.Container;
  readonly link: SidecarLink;
  readonly proxy: EgressProxy;
  readonly connectSocket: string;
  /** Folders on the engine's machine that hold the tree, highest first. */
  readonly layers: readonly string[];
  /** Where the sidecar sees this place's own part of the tree. */
  readonly ownFolder: string;
}

/** The engine refused to mount an overlay; a copy has to do. */
export class OverlayRefusedError extends Error {}

async function makeSocketFolder(folder: string): Promise<void> {
  await mkdir(join(folder, "out"), { recursive: true, mode: 0o755 });
  await mkdir(join(folder, "in"), { mode: 0o755 });
  if (process.getuid?.() === 0) await chown(join(folder, "in"), RELAY_UID, RELAY_UID);
  // Whatever the umask says: the relay has another uid. The folder above is closed to everybody else.
  await chmod(join(folder, "out"), 0o755);
  await chmod(folder, 0o755);
}

/** The relay must be able to listen in a folder of ours: as root we give it one, otherwise it runs as we do. */
const relayUser = (): string =>
  process.getuid?.() === 0 ? `${RELAY_UID}:${RELAY_UID}` : `${process.getuid?.() ?? ""}:${process.getgid?.() ?? ""}`;

const HARDENING = {
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  Init: true,
  AutoRemove: true,
  LogConfig: { Type: "none", Config: {} },
};

function sidecarOptions(
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
      Sysctls: { "net.ipv6.conf.all.disable_ipv6": "0" },
      Memory: SIDECAR_MEMORY_BYTES,
      MemorySwap: SIDECAR_MEMORY_BYTES,
      PidsLimit: SIDECAR_PIDS,
      Binds: binds,
    },
  };
}

interface AppSpec {
  readonly labels: Record<string, string>;
  readonly limits: PlaceOptions["limits"];
  readonly sidecarId: string;
  readonly treeVolume: string;
}

function appOptions(context: PlaceContext, spec: AppSpec): Docker.ContainerCreateOptions {
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

async function createContainer(
  context: PlaceContext,
  options: Docker.ContainerCreateOptions,
): Promise<Docker.Container> {
  try {
    return await context.docker.createContainer(options);
  } catch (error) {
    if (statusOf(error) !== 404) return asking("making a container", () => Promise.reject(error));
    throw new EvowebError(
      "image",
      `Image ${context.image} is missing: ${messageOf(error).trim()}. Build it with: evoweb images build`,
    );
  }
}

async function start(container: Docker.Container, context: PlaceContext): Promise<void> {
  try {
    await container.start();
  } catch (error) {
    const words = messageOf(error).trim();
    if (statusOf(error) === 400 || statusOf(error) === 404) {
      throw new EvowebError("image", `A place cannot be started from image ${context.image}: ${words}`, {
        cause: error,
      });
    }
    throw new EvowebError("docker", `Docker, starting a container: ${words}`, { cause: error });
  }
}

async function putCa(app: Docker.Container, ca: string): Promise<void> {
  const archive = pack();
  archive.entry({ name: CA_PATH.slice(1), mode: 0o644 }, caBundle(ca));
  archive.finalize();
  await asking("copying certificates", () => app.putArchive(Readable.from(archive), { path: "/" }));
}

/** The two volumes of a place: its own, and the overlay over it where something lies below. */
async function makeVolumes(
  context: PlaceContext,
  spec: { id: string; labels: Record<string, string>; below: readonly string[] },
  cleanup: CleanupStack,
): Promise<{ own: Volume; treeVolume: string }> {
  const { docker } = context;
  const { id, labels, below } = spec;
  const own = await createVolume(docker, `evw-${id}`, labels);
  cleanup.defer(() => removeVolume(docker, own.name));
  if (below.length === 0) return { own, treeVolume: own.name };
  const treeVolume = `evo-${id}`;
  if (!(await createOverlay(docker, { name: treeVolume, lower: below, upper: own, labels }))) {
    throw new OverlayRefusedError(`${below.length} layers are too many for one mount`);
  }
  cleanup.defer(() => removeVolume(docker, treeVolume));
  return { own, treeVolume };
}

async function startGuarded(app: Docker.Container, link: SidecarLink, context: PlaceContext): Promise<void> {
  const guarded = link.reported("guard", AbortSignal.timeout(READY_TIMEOUT_MS));
  guarded.catch(() => {});
  await start(app, context);
  await guarded;
}

/** Makes the two containers and their volumes. Cleans up after its own failure. Throws `EvowebError`, or `OverlayRefusedError`. */
export async function openParts(
  context: PlaceContext,
  options: PlaceOptions,
  below: readonly string[],
): Promise<PlaceParts> {
  const { docker } = context;
  const id = randomBytes(5).toString("hex");
  const labels = labelsFor(context.ownership, options.label);
  const isOverlay = below.length > 0;
  const folder = join(context.socketFolder, id);
  const at = (name: string): string => join(folder, name);
  checkSocketPath(at("out/h.sock"));
  const cleanup = new CleanupStack();
  try {
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    await makeSocketFolder(folder);
    const proxy = new EgressProxy(options.egress ?? { allow: [] });
    await listenOn(proxy.server, at("out/e.sock"));
    cleanup.defer(() => proxy.close());
    const link = await SidecarLink.listen(at("out/h.sock"), options.label);
    cleanup.defer(() => link[Symbol.asyncDispose]());
    const { own, treeVolume } = await makeVolumes(context, { id, labels, below }, cleanup);
    const binds = [
      `${at("out")}:/evoweb/out:ro`,
      `${at("in")}:/evoweb/in`,
      `${own.name}:${isOverlay ? LAYER : WORKSPACE}`,
    ];
    const sidecar = await createContainer(context, sidecarOptions(context, labels, binds));
    cleanup.defer(() => removeContainer(docker, sidecar.id));
    const ready = link.reported("ready", AbortSignal.timeout(READY_TIMEOUT_MS));
    ready.catch(() => {});
    await start(sidecar, context);
    const spec = { labels, limits: options.limits, sidecarId: sidecar.id, treeVolume };
    const app = await createContainer(context, appOptions(context, spec));
    cleanup.defer(() => removeContainer(docker, app.id));
    if (context.ca !== undefined) await putCa(app, context.ca);
    await ready;
    await startGuarded(app, link, context).catch((error: unknown) => {
      // Bad overlay options and a kernel that refuses them both appear only here, and as the same status.
      const isRefusal = isOverlay && error instanceof EvowebError && error.code === "docker";
      throw isRefusal ? new OverlayRefusedError(error.message) : error;
    });
    return {
      sidecar,
      app,
      link,
      proxy,
      connectSocket: at("in/c.sock"),
      layers: isOverlay ? [`${own.mountpoint}/u`, ...below] : [own.mountpoint],
      ownFolder: isOverlay ? `${LAYER}/u` : WORKSPACE,
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}
