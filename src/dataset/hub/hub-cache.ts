import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { EvowebError } from "../../errors.ts";

const relative = z
  .string()
  .refine(
    (name) => !path.isAbsolute(name) && !/\\|(^|\/)\.\.?(\/|$)|^$/.test(name),
    "must be a path inside the repository",
  );
const oid = z.string().regex(/^[0-9a-f]{1,64}$/);

/** A file of a revision, with what its content must be. */
export const HubFile = z.object({
  /** Relative to the repository, with forward slashes. */
  path: relative,
  sizeBytes: z.int().min(0),
  /** SHA-256 for files in large storage, else git's blob SHA-1: also the name of the blob in the cache. */
  hash: oid,
});
export type HubFile = z.infer<typeof HubFile>;

/** One repository's part of the cache, laid out as Python's huggingface_hub does: blobs, snapshots, refs. */
export class HubCache {
  /** Where its files are. */
  readonly folder: string;
  readonly #locks: string;

  constructor(cacheDir: string, repo: string) {
    const name = ["datasets", ...repo.split("/")].join("--");
    this.folder = path.join(cacheDir, name);
    this.#locks = path.join(cacheDir, ".locks", name);
  }

  /** Folder of a commit's files. */
  snapshot(commit: string): string {
    return path.join(this.folder, "snapshots", commit);
  }

  /** The lock of one blob. */
  lock(file: HubFile): string {
    return path.join(this.#locks, `${file.hash}.evoweb.lock`);
  }

  /** The commit that a branch or tag had when it was last asked for; null: never. */
  async readRef(revision: string): Promise<string | null> {
    const text = await readFile(this.#ref(revision), "utf8").catch(() => null);
    return text === null ? null : text.trim();
  }

  async writeRef(revision: string, commit: string): Promise<void> {
    await writeWhole(this.#ref(revision), commit);
  }

  #ref(revision: string): string {
    if (!relative.safeParse(revision).success) {
      throw new EvowebError("usage", `--revision "${revision}" is no branch, tag or commit`);
    }
    return path.join(this.folder, "refs", revision);
  }

  /** All files of a commit, as the hub listed them; null: never pulled by evoweb. */
  async readListing(commit: string): Promise<readonly HubFile[] | null> {
    const text = await readFile(this.#listing(commit), "utf8").catch(() => null);
    try {
      return text === null ? null : z.array(HubFile).parse(JSON.parse(text));
    } catch {
      // Of another evoweb, or damaged: it is asked for again.
      return null;
    }
  }

  async writeListing(commit: string, files: readonly HubFile[]): Promise<void> {
    await writeWhole(this.#listing(commit), `${JSON.stringify(files)}\n`);
  }

  // A folder that Python's client does not look into. Without the list, a part of a data set would look like a whole one.
  #listing(commit: string): string {
    return path.join(this.folder, "evoweb", `${commit}.json`);
  }

  /** The files of a commit that another program pulled, by the names of their blobs; what is no link to a blob is left out. */
  async listSnapshot(commit: string): Promise<readonly HubFile[]> {
    const root = this.snapshot(commit);
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = await Promise.all(
      entries
        .filter((entry) => entry.isSymbolicLink())
        .map(async (entry) => {
          const file = path.join(entry.parentPath, entry.name);
          const bytes = await readFile(file).catch(() => null);
          const hash = path.basename(await readlink(file));
          const name = path.relative(root, file).split(path.sep).join("/");
          return bytes === null ? null : { path: name, sizeBytes: bytes.length, hash };
        }),
    );
    return files.filter((file) => file !== null && HubFile.safeParse(file).success) as readonly HubFile[];
  }

  /** Path of a file whose content is what it must be; null when it is not there, or is something else. */
  async find(commit: string, file: HubFile): Promise<string | null> {
    const pointer = path.join(this.snapshot(commit), file.path);
    const bytes = await readFile(pointer).catch(() => null);
    return bytes !== null && faultOf(bytes, file) === null ? pointer : null;
  }

  /** Makes the file of a commit point at its blob, when that is in the cache already. */
  async linkBlob(commit: string, file: HubFile): Promise<void> {
    const blob = path.join(this.folder, "blobs", file.hash);
    const bytes = await readFile(blob).catch(() => null);
    if (bytes === null || faultOf(bytes, file) !== null) return;
    const pointer = path.join(this.snapshot(commit), file.path);
    await mkdir(path.dirname(pointer), { recursive: true });
    const aside = `${pointer}.${randomBytes(6).toString("hex")}`;
    await symlink(path.relative(path.dirname(pointer), blob), aside);
    await rename(aside, pointer);
  }

  /** Stores bytes that `faultOf` found nothing wrong with. */
  async store(commit: string, file: HubFile, bytes: Buffer): Promise<void> {
    await writeWhole(path.join(this.folder, "blobs", file.hash), bytes);
    await this.linkBlob(commit, file);
  }
}

/** Why these bytes are not the file; null when they are. A hub that lists no real hashes is believed by size alone. */
export function faultOf(bytes: Buffer, { sizeBytes, hash }: HubFile): string | null {
  if (bytes.length !== sizeBytes) return `${bytes.length} bytes instead of ${sizeBytes}`;
  const actual =
    hash.length === 64
      ? createHash("sha256").update(bytes).digest("hex")
      : createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return !hasRealHash(hash) || actual === hash ? null : `hash ${actual} instead of ${hash}`;
}

/** Whether a file's content can be verified: SHA-1 and SHA-256 have 40 and 64 digits. */
export function hasRealHash(hash: string): boolean {
  return hash.length === 40 || hash.length === 64;
}

// Readers see the whole file or none, whoever else writes it.
async function writeWhole(file: string, content: string | Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const aside = `${file}.${randomBytes(6).toString("hex")}.incomplete`;
  try {
    await writeFile(aside, content, { flush: true });
    await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
}
