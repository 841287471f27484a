import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Docker from "dockerode";
import { EvowebError } from "../../errors.ts";
import { CleanupStack } from "../cleanup-stack.ts";
import { thisOwner } from "../lease.ts";
import type { Place, PlaceOptions, Sandbox, SandboxDescription } from "../sandbox.ts";
import { asking, connectEngine, readCaFile } from "./engine.ts";
import type { EngineOptions } from "./engine.ts";
import { DockerPlace } from "./docker-place.ts";
import { OWNER_FILE, SOCKET_FOLDER_PREFIX } from "./leftovers.ts";
import { longestSocketPath, openParts, OverlayRefusedError } from "./open-place.ts";
import type { PlaceContext } from "./container-options.ts";
import { checkSocketPath } from "./sidecar-link.ts";

/** How a Docker sandbox is set up. */
export interface DockerSandboxOptions extends EngineOptions {
  /** Becomes a label of everything that is made, so that a person can tell runs apart. */
  readonly runId: string;
  /** Name or id of the image, from `ensureImage`. */
  readonly image: string;
  /** Extra certificate authorities (PEM) for programs inside. */
  readonly caFile?: string;
  /** Folder for sockets; must be short. Default: the system's folder for temporary files. */
  readonly socketFolder?: string;
  /** Whether trees below are mounted as overlays, which takes a fraction of a second, or copied. Default: overlays where the engine's machine allows them. */
  readonly layering?: "overlay" | "copy";
}

// What this folder and the serving of apps call inside.
const NEEDED_PROGRAMS = ["/usr/bin/env", "/usr/bin/tar", "/usr/bin/find", "/usr/bin/du", "sh", "node", "npm"];
const CHECK_TIMEOUT_MS = 30_000;

class DockerSandbox implements Sandbox {
  readonly kind = "docker";
  readonly #context: PlaceContext;
  readonly #cleanup: CleanupStack;
  readonly #places: DockerPlace[] = [];
  #layering: "overlay" | "copy";
  #overlayRefusal: string | undefined;
  #isImageChecked = false;
  #isClosed = false;

  constructor(context: PlaceContext, cleanup: CleanupStack, layering: "overlay" | "copy") {
    this.#context = context;
    this.#cleanup = cleanup;
    this.#layering = layering;
  }

  async describe(): Promise<SandboxDescription> {
    const { docker, image, ca } = this.#context;
    const version = await asking("asking for its version", () => docker.version());
    const { Id: id } = await asking(`looking at ${image}`, () => docker.getImage(image).inspect());
    return {
      kind: "docker",
      engine: `${version.Version} (API ${version.ApiVersion})`,
      image: id,
      notes: [
        "Agents and apps run in containers without network, as uid 1000, with no capabilities and no way to new privileges.",
        "Memory (swap included), processor time and the number of processes are limited; disk space is not.",
        "The way out leads through a proxy of evoweb with an allow-list.",
        this.#layering === "overlay"
          ? "Copies of a tree are overlay mounts."
          : `Copies of a tree are real copies${this.#overlayRefusal === undefined ? "" : `: ${this.#overlayRefusal}`}.`,
        ...(ca === undefined ? [] : ["Extra certificate authorities are trusted inside."]),
      ],
    };
  }

  async open(options: PlaceOptions): Promise<Place> {
    if (this.#isClosed) throw new EvowebError("sandbox", `Place ${options.label}: the sandbox is closed.`);
    const below = (options.below ?? []).map((place) => {
      if (place instanceof DockerPlace) return place;
      throw new EvowebError(
        "bug",
        `Place ${place.label} does not belong to this sandbox and cannot lie below ${options.label}.`,
      );
    });
    if (below.length > 0 && this.#layering === "overlay") {
      try {
        // A kernel refuses a layer that is named twice; the higher of the two is what shows.
        return await this.#openOn(options, [...new Set(below.flatMap((place) => place.layers))]);
      } catch (error) {
        if (!(error instanceof OverlayRefusedError)) throw error;
        if (error.isForGood) this.#layering = "copy";
        this.#overlayRefusal = error.message;
      }
    }
    const place = await this.#openOn(options, []);
    try {
      for (const lower of below.toReversed()) await place.writeTree(await lower.readTree([]));
    } catch (error) {
      await place[Symbol.asyncDispose]();
      throw error;
    }
    return place;
  }

  async #openOn(options: PlaceOptions, layers: readonly string[]): Promise<DockerPlace> {
    const { image = this.#context.image } = options;
    const parts = await openParts({ ...this.#context, image }, options, layers);
    const place = new DockerPlace(parts, options, (closed) => {
      this.#places.splice(this.#places.indexOf(closed), 1);
    });
    this.#places.push(place);
    if (!this.#isImageChecked) await this.#checkImage(place);
    return place;
  }

  /** Says at the start of a run what an image of the user's own lacks, before anything is blamed on an agent. */
  async #checkImage(place: DockerPlace): Promise<void> {
    const script = 'for p in "$@"; do command -v "$p" >/dev/null || echo "$p"; done';
    const argv = ["/bin/bash", "-c", script, "check", ...NEEDED_PROGRAMS] as const;
    const { stdout } = await place.exec({ argv, timeoutMs: CHECK_TIMEOUT_MS });
    if (stdout.text !== "") {
      await place[Symbol.asyncDispose]();
      const missing = stdout.text.trim().replaceAll("\n", ", ");
      throw new EvowebError(
        "image",
        `Image ${this.#context.image} lacks ${missing}. Build one that has them: evoweb images build`,
      );
    }
    this.#isImageChecked = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // Undone newest first: what lies on top of a place is newer than it.
    for (const place of this.#places) this.#cleanup.defer(() => place[Symbol.asyncDispose]());
    await this.#cleanup[Symbol.asyncDispose]();
  }
}

async function ping(docker: Docker): Promise<void> {
  await asking("asking whether it is there", () => docker.ping());
}

/** A sandbox on a Docker engine. Throws `EvowebError("docker" | "usage")` when the engine does not answer. */
export async function openDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const docker = connectEngine(options);
  const ca = options.caFile === undefined ? {} : { ca: readCaFile(options.caFile) };
  await ping(docker);
  const cleanup = new CleanupStack();
  // Short and closed to other users; its subfolders are open so that the relay, another user, gets to its sockets.
  const prefix = join(options.socketFolder ?? tmpdir(), SOCKET_FOLDER_PREFIX);
  checkSocketPath(longestSocketPath(`${prefix}XXXXXX`));
  const socketFolder = await mkdtemp(prefix);
  cleanup.defer(() => rm(socketFolder, { recursive: true, force: true }));
  await chmod(socketFolder, 0o700);
  const owner = thisOwner();
  await writeFile(join(socketFolder, OWNER_FILE), JSON.stringify(owner));
  const context: PlaceContext = {
    docker,
    image: options.image,
    ownership: { runId: options.runId, owner },
    socketFolder,
    ...ca,
  };
  return new DockerSandbox(context, cleanup, options.layering ?? "overlay");
}
