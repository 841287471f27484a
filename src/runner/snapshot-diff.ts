import { endOfGit, spawnGit } from "./git.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/** What changed between two snapshots. */
export interface SnapshotDiff {
  /** In path order; the patch in git's own words, empty where reading had stopped. */
  readonly files: readonly { readonly path: string; readonly patch: string }[];
  /** Whether reading stopped at the limit. */
  readonly isCut: boolean;
}

// Git knows the empty tree without having it.
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
// Enough for what a person reads; a diff of generated files can be hundreds of megabytes.
const MAX_BYTES = 2 * 1024 * 1024;

/** What changed from one commit of a store (null: from nothing) to another, at most 2 MiB of it. */
export async function diffSnapshots(
  store: SnapshotStore,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<SnapshotDiff> {
  // The agent's own .gitattributes must not decide what is shown.
  const args = ["-c", `attr.tree=${EMPTY_TREE}`, "diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff"];
  const child = spawnGit(store.dir, [...args, "--no-textconv", "--no-color", from ?? EMPTY_TREE, to]);
  child.stdin.on("error", () => {});
  child.stdin.end();
  const ended = endOfGit(child, "compare two snapshots");
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BYTES) break;
  }
  const isCut = sizeBytes > MAX_BYTES;
  if (isCut) child.kill("SIGKILL");
  await ended.catch((error: unknown) => {
    if (!isCut) throw error;
  });
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString("utf8");
  const paths = await store.changedPaths(from, to);
  // Lines of a file begin with a sign or a space, so that none can be taken for the head of a patch.
  const patches = text.split(/^(?=diff --git )/mu).filter((part) => part !== "");
  // A file that became a link has two patches; then each is named by its own first line.
  const isPaired = isCut || patches.length === paths.length;
  const files = isPaired
    ? paths.map((path, index) => ({ path, patch: patches[index] ?? "" }))
    : patches.map((patch) => ({ path: patch.slice(0, patch.indexOf("\n")), patch }));
  return { files, isCut };
}
