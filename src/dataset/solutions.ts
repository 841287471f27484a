import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { EvowebError } from "../errors.ts";
import { readFolder, type FileTree } from "./file-tree.ts";

const run = promisify(execFile);
const GIT_LIMIT_MS = 60_000;

/** What a solution's folder gives: the tree after each request, up to the first step that does not work. */
export interface Snapshots {
  /** Trees after request 1, 2, ... */
  readonly trees: readonly FileTree[];
  /** Why there are no more trees than these; absent when every step of the folder worked. */
  readonly fault?: string;
}

/** The solution folders of a data set by variant: `solutions` is "solution", `solutions-second` is "second". */
export async function findVariants(dir: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(dir, { withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isDirectory() && /^solutions(-.+)?$/.test(entry.name))
      .map((entry) => [entry.name.replace(/^solutions-?/, "") || "solution", path.join(dir, entry.name)] as const)
      .sort(([a], [b]) => (a === "solution" ? -1 : b === "solution" ? 1 : a < b ? -1 : 1)),
  );
}

/**
 * Reads `NN.patch` (a git diff on top of the step before) or `NN/` (the whole tree) for NN = 01, 02, ...
 *
 * @throws EvowebError `git` when git cannot be started.
 */
export async function readSnapshots(folder: string): Promise<Snapshots> {
  const steps = await findSteps(folder);
  const scratch = await mkdtemp(path.join(tmpdir(), "evoweb-solution-"));
  try {
    const workTree = path.join(scratch, "tree");
    const gitDir = path.join(scratch, "git");
    await mkdir(workTree);
    // With a repository of its own, git neither looks for one above the folder nor obeys one named by the environment.
    await git(["init", "--quiet", "--bare", gitDir], scratch);
    const trees: FileTree[] = [];
    for (const [index, step] of steps.entries()) {
      const fault = await takeStep(step, { number: index + 1, workTree, gitDir });
      if (fault !== undefined) return { trees, fault };
      const { tree, odd } = await readFolder(workTree);
      if (odd.length > 0) return { trees, fault: `${step}: ${odd.join(", ")} is not a regular file` };
      trees.push(tree);
    }
    return { trees };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Scratch {
  readonly number: number;
  readonly workTree: string;
  readonly gitDir: string;
}

async function takeStep(step: string, { number, workTree, gitDir }: Scratch): Promise<string | undefined> {
  const name = path.basename(step);
  if (Number(/^\d+/.exec(name)?.[0]) !== number) {
    return `${path.dirname(step)}: the step for request ${number} is missing; the next one is ${name}`;
  }
  const info = await stat(step);
  if (info.isDirectory()) {
    await rm(workTree, { recursive: true });
    await cp(step, workTree, { recursive: true, verbatimSymlinks: true });
    return undefined;
  }
  // git refuses a patch without content, yet a request may be met already.
  if (info.size === 0) return undefined;
  const options = ["-c", "core.autocrlf=false", `--git-dir=${gitDir}`, `--work-tree=${workTree}`];
  const refusal = await git([...options, "apply", "--whitespace=nowarn", path.resolve(step)], workTree);
  return refusal === undefined ? undefined : `${step} does not apply: ${refusal}`;
}

async function findSteps(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => /^\d\d+(\.patch)?$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => path.join(folder, name));
}

// What git said when it refused; absent when it did not.
async function git(args: readonly string[], cwd: string): Promise<string | undefined> {
  try {
    await run("git", args, { cwd, timeout: GIT_LIMIT_MS });
    return undefined;
  } catch (error) {
    const hasExited = error instanceof Error && "code" in error && typeof error.code === "number";
    if (hasExited && "stderr" in error && typeof error.stderr === "string") {
      return error.stderr.trim().replaceAll("error: ", "").replaceAll("\n", "; ");
    }
    const message = "git could not be run to build a solution of the dataset; is git installed?";
    throw new EvowebError("git", message, { cause: error });
  }
}
