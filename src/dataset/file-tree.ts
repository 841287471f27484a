import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** A regular file of a tree; symlinks and other kinds never occur. */
export interface TreeFile {
  readonly mode: 0o644 | 0o755;
  /** Content; shared between trees, so it must not be changed. */
  readonly bytes: Buffer;
}

/** Files by path relative to the root, with forward slashes, sorted. */
export type FileTree = ReadonlyMap<string, TreeFile>;

/** Reads a folder of ours. Returns the paths that are neither file nor folder apart, they are not read. */
export async function readFolder(root: string): Promise<{ readonly tree: FileTree; readonly odd: readonly string[] }> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const others = entries.filter((entry) => !entry.isDirectory());
  const nameOf = (entry: (typeof entries)[number]) =>
    path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/");
  const names = others.filter((entry) => entry.isFile()).map(nameOf);
  const files = await Promise.all(
    names.sort().map(async (name): Promise<readonly [string, TreeFile]> => {
      const { mode } = await lstat(path.join(root, name));
      return [name, { mode: (mode & 0o100) === 0 ? 0o644 : 0o755, bytes: await readFile(path.join(root, name)) }];
    }),
  );
  return { tree: new Map(files), odd: others.filter((entry) => !entry.isFile()).map(nameOf) };
}

/** Whether two trees hold the same files. */
export function isSameTree(a: FileTree, b: FileTree): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, file]) => {
    const other = b.get(name);
    return other !== undefined && other.mode === file.mode && other.bytes.equals(file.bytes);
  });
}
