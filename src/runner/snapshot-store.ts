import { once } from "node:events";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { EvowebError } from "../errors.ts";
import { endOfGit, git, spawnGit } from "./git.ts";
import { packTar, readTar, type TarEntry, type TarFile } from "./tar.ts";

/** Folders that a snapshot leaves out at every depth; everything else is kept, whatever a .gitignore of the agent says. */
export const SNAPSHOT_EXCLUDES = ["node_modules", ".git", ".npm", ".pnpm-store", ".venv", "__pycache__"] as const;

const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 50_000;

/** A committed workspace. */
export interface Snapshot {
  /** Commit id. */
  readonly sha: string;
  /** Tree id; equal trees have equal ids, across runs too. */
  readonly tree: string;
  readonly files: number;
  /** Entries that cannot be kept (sockets, devices, impossible names), with the reason. */
  readonly skipped: readonly string[];
}

/** One file of a snapshot. */
export interface SnapshotFile {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly blob: string;
  readonly sizeBytes: number;
}

const refOf = (request: number): string => `refs/heads/request-${String(request).padStart(2, "0")}`;

/** Snapshots of one app in a bare repository that no container reaches. */
export class SnapshotStore {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Path of the repository. */
  get dir(): string {
    return this.#dir;
  }

  /** Opens the repository, made when it is not there. */
  static async open(dir: string): Promise<SnapshotStore> {
    if (!existsSync(join(dir, "HEAD"))) {
      // A full disk or a kill may stop git in the middle: the repository gets its name when it is whole.
      const part = `${dir}.part`;
      await rm(part, { recursive: true, force: true });
      await git(part, ["init", "--quiet", "--bare", "--initial-branch=request-01"]);
      await rm(dir, { recursive: true, force: true });
      await rename(part, dir);
    }
    return new SnapshotStore(dir);
  }

  /** Stores a tar stream as the snapshot after `request`, on top of the one before; an older attempt keeps a ref of its own. */
  async commit(request: number, attempt: number, tree: Readable): Promise<Snapshot> {
    const ref = refOf(request);
    const parent = request > 1 ? await this.find(request - 1) : null;
    const child = spawnGit(this.#dir, ["fast-import", "--quiet", "--force", "--done"]);
    child.stdout.resume();
    child.stdin.on("error", () => {});
    const ended = endOfGit(child, `store the snapshot of request ${request}`);
    // It may fail while the tree is still being read; it is awaited below.
    ended.catch(() => {});
    const skipped: string[] = [];
    try {
      const message = `Request ${request}`;
      const author = "author evoweb <> 0 +0000\ncommitter evoweb <> 0 +0000";
      child.stdin.write(`commit ${ref}\n${author}\ndata ${message.length}\n${message}\n`);
      if (parent !== null) child.stdin.write(`from ${parent}\n`);
      child.stdin.write("deleteall\n");
      const imported = importTar(tree, child.stdin, skipped);
      // A git that has died reads no more, and the import would wait for it.
      await Promise.race([imported, ended.then(() => imported)]);
      child.stdin.end("done\n");
    } catch (error) {
      tree.destroy();
      // A broken pipe is git's end, and git knows why.
      const isBroken = error instanceof Error && "code" in error && error.code === "EPIPE";
      if (!isBroken) child.kill("SIGKILL");
      throw await ended.then(
        () => error,
        (fault: unknown) => (isBroken ? fault : error),
      );
    }
    await ended;
    const sha = await this.#resolve(ref);
    await git(this.#dir, ["update-ref", `refs/attempts/${attempt}/request-${String(request).padStart(2, "0")}`, sha]);
    return { sha, tree: await this.#resolve(`${sha}^{tree}`), files: (await this.list(sha)).length, skipped };
  }

  /** Commit of the snapshot after `request`, or null when there is none. */
  async find(request: number): Promise<string | null> {
    const out = await git(this.#dir, ["for-each-ref", "--format=%(objectname)", refOf(request)]);
    return out.toString("utf8").trim() || null;
  }

  /** Tree id of a commit. */
  async treeOf(sha: string): Promise<string> {
    return this.#resolve(`${sha}^{tree}`);
  }

  /** Files of a snapshot in path order. */
  async list(sha: string): Promise<readonly SnapshotFile[]> {
    const out = await git(this.#dir, ["ls-tree", "-r", "-z", "--long", sha]);
    const lines = out.toString("utf8").split("\0").filter(Boolean);
    return lines.map((line) => {
      const [meta = "", path = ""] = line.split("\t", 2);
      const [mode, , blob, size] = meta.split(/ +/u);
      return { path, mode: mode as SnapshotFile["mode"], blob: blob ?? "", sizeBytes: Number(size) };
    });
  }

  /** Paths that differ between two commits; of the first snapshot (`from` null) all paths. */
  async changedPaths(from: string | null, to: string): Promise<readonly string[]> {
    if (from === null) return (await this.list(to)).map(({ path }) => path);
    const out = await git(this.#dir, ["diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to]);
    return out.toString("utf8").split("\0").filter(Boolean);
  }

  /** Bytes of a regular file of a snapshot, or null when it has no such file. */
  async readFile(sha: string, path: string): Promise<Buffer | null> {
    const file = (await this.list(sha)).find((entry) => entry.path === path && entry.mode !== "120000");
    return file === undefined ? null : git(this.#dir, ["cat-file", "blob", file.blob]);
  }

  /**
   * A snapshot as a tar stream owned by uid 1000. Not `git archive`: that obeys the agent's export-ignore and gives
   * every file to root.
   */
  async toTar(sha: string): Promise<Readable> {
    return packTar(this.#contents(await this.list(sha)));
  }

  async *#contents(files: readonly SnapshotFile[]): AsyncGenerator<TarFile> {
    const child = spawnGit(this.#dir, ["cat-file", "--batch"]);
    child.stdin.on("error", () => {});
    const ended = endOfGit(child, "read a snapshot");
    ended.catch(() => {});
    child.stdin.end(files.map((file) => `${file.blob}\n`).join(""));
    const reader = byteReader(child.stdout);
    for (const { path, mode, sizeBytes } of files) {
      await reader.line();
      const bytes = await reader.bytes(sizeBytes);
      await reader.bytes(1);
      yield mode === "120000"
        ? { path, linkTo: bytes.toString("utf8") }
        : { path, mode: mode === "100755" ? 0o755 : 0o644, bytes };
    }
    await ended;
  }

  async #resolve(name: string): Promise<string> {
    return (await git(this.#dir, ["rev-parse", "--verify", "--end-of-options", name])).toString("utf8").trim();
  }
}

async function importTar(tree: Readable, out: Writable, skipped: string[]): Promise<void> {
  let bytes = 0;
  let files = 0;
  for await (const entry of readTar(tree)) {
    const { header } = entry;
    const path = header.name.replace(/^(\.\/)+/u, "").replace(/\/+$/u, "");
    const refusal = header.type === "directory" || path === "" ? "" : reasonToSkip(header.type, path);
    if (header.type === "directory" || path === "" || refusal !== "") {
      if (refusal !== "") skipped.push(`${path}: ${refusal}`);
      entry.drain();
      continue;
    }
    files += 1;
    bytes += header.size;
    if (files > MAX_FILES || bytes > MAX_BYTES) {
      throw new EvowebError("sandbox", `the workspace is larger than ${MAX_FILES} files or ${MAX_BYTES} bytes`);
    }
    await importEntry(entry, path, out);
  }
}

function reasonToSkip(type: string, path: string): string {
  if (type !== "file" && type !== "contiguous-file" && type !== "symlink") {
    return `a ${type} cannot be kept`;
  }
  const parts = path.split("/");
  if (parts.some((part) => part === ".." || part === "." || part === "" || part.toLowerCase() === ".git")) {
    return "this name cannot be kept";
  }
  return "";
}

async function importEntry(entry: TarEntry, path: string, out: Writable): Promise<void> {
  const { header } = entry;
  // JSON-like quoting would escape too much: fast-import knows only \\, \" and \n here.
  const quoted = `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
  if (header.type === "symlink") {
    const target = Buffer.from(header.linkname);
    out.write(`M 120000 inline ${quoted}\ndata ${target.length}\n`);
    out.write(target);
    out.write("\n");
    entry.drain();
    return;
  }
  const mode = (header.mode & 0o100) === 0 ? "100644" : "100755";
  out.write(`M ${mode} inline ${quoted}\ndata ${header.size}\n`);
  for await (const chunk of entry.body) {
    if (!out.write(chunk)) await once(out, "drain");
  }
  out.write("\n");
}

interface ByteReader {
  line(): Promise<string>;
  bytes(count: number): Promise<Buffer>;
}

function byteReader(stream: Readable): ByteReader {
  const source = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const next = await source.next();
    if (next.done === true) throw new EvowebError("git", "a snapshot ended in the middle of a file; is the disk full?");
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
  };
  const bytes = async (count: number): Promise<Buffer> => {
    while (held.length < count) await more();
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  return {
    bytes,
    async line() {
      let end = held.indexOf(10);
      while (end < 0) {
        await more();
        end = held.indexOf(10);
      }
      return (await bytes(end + 1)).toString("utf8");
    },
  };
}
