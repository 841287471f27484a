import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type Docker from "dockerode";
import { EvowebError, messageOf } from "../../errors.ts";
import { asking, statusOf } from "./engine.ts";
import { runProgram } from "./image-context.ts";

const REGISTRY_BASE = "debian:trixie-slim";
const OWN_BASE = "evoweb-base:trixie";
const SUITE = "trixie";
// A registry that cannot be reached often does not refuse but stays silent.
const PULL_TIMEOUT_MS = 120_000;
const PROGRAM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/** Whether the engine has this image. Throws `EvowebError("docker")`. */
export async function hasImage(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).inspect();
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    return asking(`looking for image ${name}`, () => Promise.reject(error));
  }
}

async function pull(docker: Docker, name: string, onLine: (line: string) => void): Promise<string | undefined> {
  onLine(`pulling ${name}`);
  const abort = AbortSignal.timeout(PULL_TIMEOUT_MS);
  try {
    const stream = await docker.pull(name, { abortSignal: abort });
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
    });
    return undefined;
  } catch (error) {
    return messageOf(error).trim();
  }
}

/** Makes a base image out of Debian's packages alone, for machines that reach no image registry. */
async function bootstrap(docker: Docker, onLine: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-base-"));
  try {
    onLine(`bootstrapping ${OWN_BASE} from Debian packages (about 30 s)`);
    const root = join(folder, "root");
    await runProgram(["debootstrap", "--variant=minbase", SUITE, root], {
      cwd: folder,
      env: { PATH: PROGRAM_FOLDERS.join(delimiter), LANG: "C.UTF-8" },
      ...(signal === undefined ? {} : { signal }),
    });
    const archive = join(folder, "root.tar");
    await runProgram(["tar", "-C", root, "--exclude=./var/cache/apt/archives/*.deb", "-cf", archive, "."], {
      cwd: folder,
    });
    const [repo, tag] = OWN_BASE.split(":");
    const stream = await asking(`importing ${OWN_BASE}`, () => docker.importImage(archive, { repo, tag }));
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const canBootstrap = (): boolean =>
  process.getuid?.() === 0 && PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, "debootstrap")));

/** What to build on. */
export interface BaseOptions {
  /** An image the user chose; default: Debian. */
  readonly base?: string;
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** The name of a base image that the engine has now. Throws `EvowebError("image" | "docker")`. */
export async function ensureBase(docker: Docker, options: BaseOptions): Promise<string> {
  const wanted = options.base ?? REGISTRY_BASE;
  if (await hasImage(docker, wanted)) return wanted;
  if (options.base === undefined && (await hasImage(docker, OWN_BASE))) return OWN_BASE;
  const refusal = await pull(docker, wanted, options.onLine);
  if (refusal === undefined) return wanted;
  if (options.base !== undefined) {
    throw new EvowebError("image", `Base image ${wanted} is not here and cannot be pulled: ${refusal}`);
  }
  options.onLine(`no image registry (${refusal})`);
  if (!canBootstrap()) {
    throw new EvowebError(
      "image",
      `No base image: ${wanted} cannot be pulled (${refusal}), and making one from Debian packages needs root and debootstrap. ` +
        "Install debootstrap, or name an image that is here with EVOWEB_BASE_IMAGE.",
    );
  }
  await bootstrap(docker, options.onLine, options.signal);
  return OWN_BASE;
}
