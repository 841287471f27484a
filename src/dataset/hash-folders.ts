import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** SHA-256 (hex) over names and bytes of every file below the folders; where the folders are does not change it. */
export async function hashFolders(folders: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of folders.toSorted()) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const path of paths.sort()) {
      hash.update(path.slice(folder.length)).update("\0");
      hash.update(await readFile(path)).update("\0");
    }
  }
  return hash.digest("hex");
}
