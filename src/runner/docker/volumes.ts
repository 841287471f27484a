import type Docker from "dockerode";
import { asking, statusOf } from "./engine.ts";

// The options of one mount must fit a page; each layer is one path in them.
const MAX_OPTIONS_BYTES = 4000;
const REMOVE_WAIT_MS = 15_000;

/** A named volume and the folder of the engine's machine where it lies. */
export interface Volume {
  readonly name: string;
  readonly mountpoint: string;
}

/** Makes an empty volume. Throws `EvowebError("docker")`. */
export async function createVolume(docker: Docker, name: string, labels: Record<string, string>): Promise<Volume> {
  // Made before any container names it: a volume that first appears in a bind has no labels and is found by no clean-up.
  await asking(`making volume ${name}`, () => docker.createVolume({ Name: name, Labels: labels }));
  const { Mountpoint: mountpoint } = await asking(`looking at ${name}`, () => docker.getVolume(name).inspect());
  return { name, mountpoint };
}

/** An overlay: what lies below, highest first, and the folder that takes the writes. */
export interface Overlay {
  readonly name: string;
  readonly lower: readonly string[];
  /** Holds the folders u and w. */
  readonly upper: Volume;
  readonly labels: Record<string, string>;
}

/** Makes an overlay volume, or returns false when its description is too long for one mount. It is mounted, and may be refused, only when a container starts. */
export async function createOverlay(docker: Docker, overlay: Overlay): Promise<boolean> {
  const { mountpoint } = overlay.upper;
  const o = `lowerdir=${overlay.lower.join(":")},upperdir=${mountpoint}/u,workdir=${mountpoint}/w`;
  if (Buffer.byteLength(o) > MAX_OPTIONS_BYTES) return false;
  await asking(`making volume ${overlay.name}`, () =>
    docker.createVolume({
      Name: overlay.name,
      Driver: "local",
      DriverOpts: { type: "overlay", device: "overlay", o },
      Labels: overlay.labels,
    }),
  );
  return true;
}

const isGone = (error: unknown): boolean => statusOf(error) === 404;

/** Removes a container with what runs in it, and waits until it is gone. */
export async function removeContainer(docker: Docker, id: string): Promise<void> {
  const container = docker.getContainer(id);
  try {
    await container.remove({ force: true, v: false });
  } catch (error) {
    if (isGone(error)) return;
    // 409: it is being removed already, as a container with AutoRemove is once its main process ends.
    if (statusOf(error) !== 409) await asking("removing a container", () => Promise.reject(error));
    await container
      .wait({ condition: "removed", abortSignal: AbortSignal.timeout(REMOVE_WAIT_MS) })
      .catch((waitError: unknown) => {
        if (!isGone(waitError)) throw waitError;
      });
  }
}

/** Removes a volume; one that is gone already is fine. Throws `EvowebError("docker")` when it is in use. */
export async function removeVolume(docker: Docker, name: string): Promise<void> {
  try {
    await docker.getVolume(name).remove({});
  } catch (error) {
    if (!isGone(error)) await asking(`removing volume ${name}`, () => Promise.reject(error));
  }
}
