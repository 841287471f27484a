import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import type { FileTree } from "../../src/dataset/file-tree.ts";
import type { GroundTruth } from "../../src/dataset/ground-truth.ts";
import type { Row } from "../../src/dataset/row.ts";

/** evoweb-mini with its ground truth. */
export interface Truth {
  readonly rows: readonly Row[];
  readonly truth: GroundTruth;
  /** Whether a row has this solution, such as "second". */
  readonly isSolved: (variant: string, rowId: string) => boolean;
}

/** Opens the built-in data set. */
export async function openTruth(): Promise<Truth> {
  const { dir, rows, truth } = await openDataset("evoweb-mini");
  if (dir === null || truth === null) throw new Error("datasets/evoweb-mini has no ground truth");
  const isSolved = (variant: string, rowId: string): boolean =>
    existsSync(path.join(dir, `solutions-${variant}`, rowId));
  return { rows, truth, isSolved };
}

/** Hash over paths and contents; equal for identical trees. */
export function hashTree(tree: FileTree): string {
  const hash = createHash("sha256");
  for (const [file, { mode, bytes }] of tree) hash.update(`${file}\0${mode}\0${bytes.length}\0`).update(bytes);
  return hash.digest("hex");
}
