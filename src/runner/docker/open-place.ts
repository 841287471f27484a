import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import { Readable } from "node:stream";
import { EvowebError, messageOf } from "../../errors.ts";
import { CleanupStack } from "../cleanup-stack.ts";
import { stopListening } from "../stop-listening.ts";
import { EgressProxy } from "../egress-proxy.ts";
import type { PlaceOptions } from "../sandbox.ts";
import { appOptions, RELAY_UID, sidecarOptions } from "./container-options.ts";
import type { PlaceContext } from "./container-options.ts";
import { asking, statusOf } from "./engine.ts";
import { CA_PATH, caBundle } from "./environment.ts";
import { LAYER, WORKSPACE } from "./image-recipe.ts";
import { labelsFor } from "./labels.ts";
import { listenOn, SidecarLink } from "./sidecar-link.ts";
import { createOverlay, createVolume, removeContainer, removeVolume } from "./volumes.ts";
import type { Volume } from "./volumes.ts";

const READY_TIMEOUT_MS = 30_000;
const ID_BYTES = 5;

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

/** The longest path that the sockets of a place get below a folder. */
export const longestSocketPath = (folder: string): string => join(folder, "0".repeat(2 * ID_BYTES), "out/h.sock");

/** The engine refused to mount an overlay; a copy has to do. */
export class OverlayRefusedError extends Error {
  /** Whether the next overlay will be refused too. */
  readonly isForGood: boolean;

  constructor(message: string, { isForGood }: { isForGood: boolean }) {
    super(message);
    this.isForGood = isForGood;
  }
}

async function makeSocketFolder(folder: string): Promise<void> {
  await mkdir(join(folder, "out"), { recursive: true, mode: 0o755 });
  await mkdir(join(folder, "in"), { mode: 0o755 });
  if (process.getuid?.() === 0) await chown(join(folder, "in"), RELAY_UID, RELAY_UID);
  // Whatever the umask says: the relay has another uid. The folder above is closed to everybody else.
  await chmod(join(folder, "out"), 0o755);
  await chmod(folder, 0o755);
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
    throw new OverlayRefusedError(`${below.length} layers are too many for one mount`, { isForGood: false });
  }
  cleanup.defer(() => removeVolume(docker, treeVolume));
  return { own, treeVolume };
}

/** Starts a container and waits until its main program has been heard of; one that ends before that is not waited for. */
async function startHeard(
  container: Docker.Container,
  context: PlaceContext,
  main: { program: string; link: SidecarLink; event: "ready" | "guard" },
): Promise<void> {
  const stop = new AbortController();
  const early = container.wait({ condition: "next-exit", abortSignal: stop.signal }).then(({ StatusCode: code }) => {
    // The init process gives these codes when it cannot run the program.
    const isMissing = code === 126 || code === 127;
    throw isMissing
      ? new EvowebError(
          "image",
          `Image ${context.image} cannot run ${main.program}. Build one that can: evoweb images build`,
        )
      : new EvowebError(
          "docker",
          `A container ended with code ${String(code)} before its ${main.program} was heard of.`,
        );
  });
  early.catch(() => {});
  const heard = main.link.reported(main.event, AbortSignal.timeout(READY_TIMEOUT_MS));
  heard.catch(() => {});
  try {
    await start(container, context);
    await Promise.race([
      heard,
      early.catch((error: unknown) => (error instanceof EvowebError ? Promise.reject(error) : heard)),
    ]);
  } finally {
    stop.abort();
  }
}

/** Makes the two containers and their volumes. Cleans up after its own failure. Throws `EvowebError`, or `OverlayRefusedError`. */
export async function openParts(
  context: PlaceContext,
  options: PlaceOptions,
  below: readonly string[],
): Promise<PlaceParts> {
  const { docker } = context;
  const id = randomBytes(ID_BYTES).toString("hex");
  const labels = labelsFor(context.ownership, options.label);
  const isOverlay = below.length > 0;
  const folder = join(context.socketFolder, id);
  const at = (name: string): string => join(folder, name);
  const cleanup = new CleanupStack();
  try {
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    await makeSocketFolder(folder);
    const proxy = new EgressProxy(options.egress ?? { allow: [] });
    await listenOn(proxy.server, at("out/e.sock"));
    cleanup.defer(() => proxy.close());
    const { gateway } = options;
    if (gateway !== undefined) {
      await listenOn(gateway, at("out/g.sock"));
      cleanup.defer(() => stopListening(gateway));
    }
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
    await startHeard(sidecar, context, { program: "node", link, event: "ready" });
    const spec = { labels, limits: options.limits, sidecarId: sidecar.id, treeVolume };
    const app = await createContainer(context, appOptions(context, spec));
    cleanup.defer(() => removeContainer(docker, app.id));
    if (context.ca !== undefined) await putCa(app, context.ca);
    await startHeard(app, context, { program: "/bin/bash", link, event: "guard" }).catch((error: unknown) => {
      // Bad overlay options and a kernel that refuses them both appear only here, and as the same status.
      const isRefusal = isOverlay && error instanceof EvowebError && error.code === "docker";
      throw isRefusal ? new OverlayRefusedError(error.message, { isForGood: true }) : error;
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
