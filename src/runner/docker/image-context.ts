import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, pack } from "tar-stream";
import type { Pack } from "tar-stream";
import { EvowebError } from "../../errors.ts";
import { dockerfile, LINKS } from "./image-recipe.ts";
import type { imagePackages } from "./image-recipe.ts";

const MAX_ERROR_CHARS = 2000;
type Packages = NonNullable<ReturnType<typeof imagePackages>>;

/** A program of the host that was run to its end. */
interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Runs a program of the host and returns its stdout. Throws `EvowebError("image")` with its last words. */
export async function runProgram(argv: readonly [string, ...string[]], options: ProgramOptions): Promise<string> {
  const child = spawn(argv[0], argv.slice(1), {
    cwd: options.cwd,
    // Absent means the harness's own environment: npm needs the user's registry, proxy and certificates.
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let last = "";
  const hear = (text: string): void => {
    last = (last + text).slice(-MAX_ERROR_CHARS);
    for (const line of text.split("\n")) if (line.trim() !== "") options.onLine?.(line.trim());
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    hear(text);
  });
  child.stderr.setEncoding("utf8").on("data", hear);
  return new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(new EvowebError("image", `${argv[0]} cannot be run: ${error.message}`, { cause: error })),
    );
    child.on("close", (code) => {
      if (code === 0) resolve(stdout);
      else reject(new EvowebError("image", `${argv.join(" ")} ended with code ${String(code)}:\n${last.trim()}`));
    });
  });
}

/** Fetches the packages with the host's own npm, so its registry, proxy and certificates apply, and checks their hashes. */
async function fetchPackages(packages: Packages, options: ProgramOptions & { caFile?: string }): Promise<string[]> {
  const ca = options.caFile === undefined ? [] : [`--cafile=${options.caFile}`];
  const files: string[] = [];
  for (const { spec, integrity } of packages) {
    options.onLine?.(`fetching ${spec}`);
    const { onLine: _, ...quiet } = options;
    const file = (await runProgram(["npm", "pack", spec, "--silent", ...ca], quiet)).trim().split("\n").at(-1) ?? "";
    const path = join(options.cwd, file);
    const got = `sha512-${createHash("sha512")
      .update(await readFile(path))
      .digest("base64")}`;
    if (got !== integrity) {
      throw new EvowebError(
        "image",
        `The registry gave another ${spec} than expected: ${got} instead of ${integrity}.`,
      );
    }
    files.push(path);
  }
  return files;
}

async function addArchive(context: Pack, path: string, folder: string): Promise<void> {
  const entries = extract();
  const reading = pipeline(createReadStream(path), createGunzip(), entries);
  for await (const entry of entries) {
    const inner = entry.header.name.split("/").slice(1).join("/");
    const wanted = entry.header.type === "file" && inner !== "" && (folder !== "usr/local" || inner === "bin/node");
    if (!wanted) {
      entry.resume();
      continue;
    }
    const isProgram = ((entry.header.mode ?? 0) & 0o100) !== 0;
    const name = `rootfs/${folder}/${inner}`;
    const target = context.entry({ name, size: entry.header.size ?? 0, mode: isProgram ? 0o755 : 0o644 });
    await pipeline(entry, target);
  }
  await reading;
}

/** What the build needs. */
export interface ContextOptions {
  readonly base: string;
  readonly packages: Packages;
  readonly caFile?: string;
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Calls `use` with the build context as a tar stream; the fetched archives are removed afterwards. */
export async function withBuildContext(options: ContextOptions, use: (context: Pack) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-image-"));
  try {
    const files = await fetchPackages(options.packages, { cwd: folder, ...options });
    const context = pack();
    const fill = async (): Promise<void> => {
      context.entry({ name: "Dockerfile" }, dockerfile(options.base));
      context.entry({ name: "build-ca.pem" }, options.caFile === undefined ? "" : await readFile(options.caFile));
      for (const [index, { folder: target }] of options.packages.entries()) {
        await addArchive(context, files[index] ?? "", target);
      }
      for (const [name, linkname] of Object.entries(LINKS)) {
        context.entry({ name: `rootfs/usr/local/bin/${name}`, type: "symlink", linkname });
      }
      context.finalize();
    };
    await Promise.all([
      fill().catch((error: unknown) => {
        context.destroy(error as Error);
        throw error;
      }),
      use(context),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
