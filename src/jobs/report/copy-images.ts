import { constants, copyFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { AppStory } from "../../report/app-story.ts";
import { resolveEvidence } from "./resolve-evidence.ts";

const ENDINGS = new Set([".webp", ".png", ".jpg", ".jpeg"]);

/** Copies the pictures of an app's evidence, each once, and adds their names to `images`, by the hash of their content. */
export function copyImages(
  { checks }: AppStory,
  { dirs, out }: { readonly dirs: readonly string[]; readonly out: string },
  images: Map<string, string>,
): void {
  for (const { path, sha256 } of checks
    .flatMap(({ sightings }) => sightings)
    .flatMap(({ judged }) => judged.evidence)) {
    const ending = extname(path).toLowerCase();
    if (!ENDINGS.has(ending) || images.has(sha256) || !/^[0-9a-f]{64}$/u.test(sha256)) continue;
    const source = dirs.map((dir) => resolveEvidence(dir, path)).find((file) => file !== null);
    if (source === undefined) continue;
    const name = `${sha256.slice(0, 32)}${ending}`;
    copyFileSync(source, join(out, name), constants.COPYFILE_FICLONE);
    images.set(sha256, name);
  }
}
