import { Readable } from "node:stream";
import type Docker from "dockerode";
import { EvowebError } from "../../errors.ts";
import { asking, connectEngine } from "./engine.ts";
import type { EngineOptions } from "./engine.ts";
import { ensureBase, hasImage } from "./image-base.ts";
import { withBuildContext } from "./image-context.ts";
import { imagePackages, imageTag } from "./image-recipe.ts";
import { withLock } from "./lock.ts";

/** How the sandbox image is found or made. */
export interface ImageOptions extends EngineOptions {
  /** Debian-like image to build on; default: Debian, pulled, or made with debootstrap where no registry is reached. */
  readonly base?: string;
  /** Extra certificate authorities (PEM) for fetching packages. */
  readonly caFile?: string;
  /** Told what is going on, a line at a time; only called when something has to be made. */
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** The image that places are made from. */
export interface SandboxImage {
  readonly tag: string;
  /** The engine's content hash, "sha256:...". */
  readonly id: string;
  readonly sizeBytes: number;
  /** Whether this call made it. */
  readonly wasBuilt: boolean;
}

async function build(docker: Docker, tag: string, options: ImageOptions & { arch: string }): Promise<void> {
  const onLine = options.onLine ?? ((): void => {});
  const common = { onLine, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  const base = await ensureBase(docker, { ...common, ...(options.base === undefined ? {} : { base: options.base }) });
  const packages = imagePackages(options.arch) ?? [];
  const ca = options.caFile === undefined ? {} : { caFile: options.caFile };
  await withBuildContext({ base, packages, ...ca, ...common }, async (context) => {
    onLine(`building ${tag} on ${base}`);
    const stream = await asking(`building ${tag}`, () =>
      docker.buildImage(Readable.from(context), {
        t: tag,
        labels: { "evoweb.image": "1" },
        // Not the build cache: apt's result of last month must not be taken for today's.
        nocache: true,
        ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
      }),
    );
    await followBuild(docker, stream, { tag, onLine });
  });
}

/** Waits for a build's end. Throws `EvowebError("image")` with its last lines when it fails. */
export async function followBuild(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  { tag, onLine }: { readonly tag: string; readonly onLine: (line: string) => void },
): Promise<void> {
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const finish = (error: Error | null): void => {
      if (error === null) resolve();
      else reject(new EvowebError("image", `Building ${tag} failed: ${error.message}\n${said.slice(-20).join("\n")}`));
    };
    docker.modem.followProgress(stream, finish, (event: { stream?: string }) => {
      for (const line of (event.stream ?? "").split("\n")) {
        if (line.trim() === "") continue;
        said.push(line.trim());
        onLine(line.trim());
      }
    });
  });
}

/**
 * The sandbox image, built on first use (one to two minutes); later calls only look it up.
 * Processes that need it at the same time wait for the first of them. Throws `EvowebError("image" | "docker")`.
 */
export async function ensureImage(options: ImageOptions = {}): Promise<SandboxImage> {
  const docker = connectEngine(options);
  const { Arch: arch } = await asking("asking for its version", () => docker.version());
  const packages = imagePackages(arch);
  if (packages === undefined) {
    throw new EvowebError(
      "image",
      `No Node.js is known for the engine's architecture ${arch}; name a ready image instead.`,
    );
  }
  const tag = imageTag(options.base ?? "", packages);
  let wasBuilt = false;
  if (!(await hasImage(docker, tag))) {
    await withLock(tag.replace(":", "-"), options.signal, async () => {
      if (await hasImage(docker, tag)) return;
      await build(docker, tag, { ...options, arch });
      wasBuilt = true;
    });
  }
  const { Id: id, Size: sizeBytes } = await asking(`looking at ${tag}`, () => docker.getImage(tag).inspect());
  return { tag, id, sizeBytes, wasBuilt };
}
