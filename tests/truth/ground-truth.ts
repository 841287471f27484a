import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { Mutant } from "../../src/dataset/row.ts";

const run = promisify(execFile);

/** The files of an app by path relative to its root. */
export type Tree = ReadonlyMap<string, Buffer>;

/** What the truth tool needs of a row: how many checks each request has, and which are superseded later. */
export interface TruthRow {
  readonly id: string;
  /** Checks by request; position 0 is request 1. */
  readonly requests: readonly (readonly TruthCheck[])[];
}

/** A check as the truth tool sees it. */
export interface TruthCheck {
  readonly task: string;
  /** True when a later request legitimately changed what must be seen. */
  readonly superseded: boolean;
}

const RawCheck = z
  .object({ task: z.string(), superseded: z.boolean().default(false) })
  .transform(({ task, superseded }) => ({ task, superseded }));
const RawRow = z.object({
  id: z.string(),
  ui_instruct: z.array(RawCheck),
  follow_ups: z.array(z.object({ ui_instruct: z.array(RawCheck) })),
});

/** The data set folder the truth tool proves. */
export const datasetDir: string = path.resolve(import.meta.dirname, "../../datasets/evoweb-mini");

/** Rows of the data set in file order. */
export async function readRows(): Promise<TruthRow[]> {
  const text = await readFile(path.join(datasetDir, "rows.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => RawRow.parse(JSON.parse(line)))
    .map((raw) => ({ id: raw.id, requests: [raw.ui_instruct, ...raw.follow_ups.map((one) => one.ui_instruct)] }));
}

/** Mutants of a row; empty while it has none. */
export async function readMutants(rowId: string): Promise<Mutant[]> {
  const file = path.join(datasetDir, "mutants", `${rowId}.json`);
  if (!existsSync(file)) return [];
  return z.array(Mutant).parse(JSON.parse(await readFile(file, "utf8")));
}

/** Named lists of mutant ids; empty while there is no such file. */
export async function readSets(): Promise<Record<string, string[]>> {
  const file = path.join(datasetDir, "sets.json");
  if (!existsSync(file)) return {};
  return z.record(z.string(), z.array(z.string())).parse(JSON.parse(await readFile(file, "utf8")));
}

/**
 * The tree of a solution after each request; position 0 is request 1.
 *
 * @param folder `solutions` or `solutions-second`. Absent files give a shorter list: what is there so far.
 */
export async function readSnapshots(folder: string, rowId: string): Promise<Tree[]> {
  const patchDir = path.join(datasetDir, folder, rowId);
  if (!existsSync(patchDir)) return [];
  const patches = (await readdir(patchDir)).filter((name) => /^\d\d\.patch$/.test(name)).sort();
  const workDir = await mkdtemp(path.join(tmpdir(), "evoweb-truth-patch-"));
  try {
    const snapshots: Tree[] = [];
    for (const patch of patches) {
      // Without a ceiling, git would look for a repository above the folder and skip paths outside of it.
      await run("git", ["apply", "--whitespace=nowarn", path.join(patchDir, patch)], {
        cwd: workDir,
        env: { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(workDir) },
      });
      snapshots.push(await readTree(workDir));
    }
    return snapshots;
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function readTree(root: string): Promise<Tree> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(path.join(root, file))] as const)));
}

/** Writes a tree into a folder, which is made when absent. */
export async function writeTree(tree: Tree, root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [file, content] of tree) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
}

/** Hash over paths and contents; equal for identical trees. */
export function hashTree(tree: Tree): string {
  const hash = createHash("sha256");
  for (const [file, content] of [...tree].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${file}\0${String(content.length)}\0`).update(content);
  }
  return hash.digest("hex");
}

/** True when the mutant's edits are applied on the snapshot after this request. */
export function isInRange(mutant: Mutant, request: number): boolean {
  return request >= mutant.enters && (mutant.leaves === undefined || request < mutant.leaves);
}

/** The tree with a mutant's edits; throws when a `find` does not occur exactly once. */
export function mutate(tree: Tree, mutant: Mutant): Tree {
  const result = new Map(tree);
  for (const { file, find, replace } of mutant.edits) {
    const text = result.get(file)?.toString("utf8");
    const parts = text?.split(find) ?? [];
    if (parts.length !== 2) {
      throw new Error(
        `mutant ${mutant.id}: in ${file} the text ${JSON.stringify(find)} occurs ${String(parts.length - 1)} times, not once`,
      );
    }
    result.set(file, Buffer.from(parts.join(replace)));
  }
  return result;
}
