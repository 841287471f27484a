import { execFile, spawn } from "node:child_process";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { EvowebError, messageOf } from "../errors.ts";

// Tools of the host, never of the tree.
const TOOL_ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
const ERROR_CHARS = 2000;
// tar's own codes: 1 says that a file changed while it was read.
const TAR_FILES_CHANGED = 1;

const execute = promisify(execFile);

async function runTool(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { env: TOOL_ENV, cwd: "/", maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    throw new EvowebError("sandbox", `${program} failed on a place's tree: ${messageOf(error).slice(0, ERROR_CHARS)}`, {
      cause: error,
    });
  }
}

function spawnTar(args: readonly string[]): {
  child: ReturnType<typeof spawn>;
  exit: Promise<number | null>;
  complaint: () => string;
} {
  const child = spawn("tar", args, { env: TOOL_ENV, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(0, ERROR_CHARS);
  });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  return { child, exit, complaint: () => complaint };
}

async function finish(out: PassThrough, exit: Promise<number | null>, complaint: () => string): Promise<void> {
  try {
    const code = await exit;
    if (code !== null && code <= TAR_FILES_CHANGED) out.end();
    else out.destroy(new EvowebError("sandbox", `tar could not read a place's tree: ${complaint()}`));
  } catch (error) {
    out.destroy(new EvowebError("sandbox", `tar cannot be started: ${messageOf(error)}`, { cause: error }));
  }
}

/** The tree as a tar stream; a failure of tar destroys the stream with `EvowebError("sandbox")`. */
export function packTree(root: string, excludeNames: readonly string[]): Readable {
  const excludes = excludeNames.map((name) => `--exclude=${name}`);
  const { child, exit, complaint } = spawnTar([
    "-C",
    root,
    "--no-wildcards",
    ...excludes,
    // Otherwise the second name of a file arrives as a link without content.
    "--hard-dereference",
    "--ignore-failed-read",
    "-cf",
    "-",
    ".",
  ]);
  const out = new PassThrough();
  child.stdin?.end();
  child.stdout?.pipe(out, { end: false });
  out.once("close", () => child.kill("SIGKILL"));
  void finish(out, exit, complaint);
  return out;
}

/** Unpacks a tar stream over a tree. Throws `EvowebError("sandbox")` when it is no tar or wants to leave the tree. */
export async function unpackTree(root: string, tar: Readable): Promise<void> {
  const { child, exit, complaint } = spawnTar([
    "-C",
    root,
    "--no-same-owner",
    "--no-same-permissions",
    "--unlink-first",
    "-xf",
    "-",
  ]);
  child.stdout?.resume();
  let inputError: unknown;
  const fed = child.stdin === null ? Promise.resolve() : pipeline(tar, child.stdin);
  await fed.catch((error: unknown) => {
    inputError = error;
    // tar closing its input early is told by its exit code; a broken source must not leave half a tree unnoticed.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") child.kill("SIGKILL");
  });
  const code = await exit;
  if (code === 0) return;
  const reason = complaint() || (inputError === undefined ? `exit code ${code}` : messageOf(inputError));
  throw new EvowebError("sandbox", `tar could not write a place's tree: ${reason}`);
}

const literal = (name: string): string => name.replaceAll(/[*?[\]\\]/g, "\\$&");

/** Removes all but folders of these names, at every depth, and what leads to them. */
export async function clearTree(root: string, keepNames: readonly string[]): Promise<void> {
  await runTool("find", [root, "-type", "d", "!", "-perm", "-u+rwx", "-exec", "chmod", "u+rwx", "{}", "+"]);
  const kept = keepNames.flatMap((name) => ["-type", "d", "-name", literal(name), "-prune", "-o"]);
  await runTool("find", [root, "-mindepth", "1", ...kept, "!", "-type", "d", "-exec", "rm", "-f", "--", "{}", "+"]);
  const inKept = keepNames.flatMap((name) => [
    "!",
    "-name",
    literal(name),
    "!",
    "-path",
    `${literal(root)}/${literal(name)}/*`,
    "!",
    "-path",
    `${literal(root)}/*/${literal(name)}/*`,
  ]);
  await runTool("find", [root, "-mindepth", "1", "-type", "d", ...inKept, "-empty", "-delete"]);
}

/** Removes a folder and all in it, also below folders without write permission. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    await runTool("find", [folder, "-type", "d", "!", "-perm", "-u+rwx", "-exec", "chmod", "u+rwx", "{}", "+"]);
    await runTool("rm", ["-rf", "--", folder]);
  }
}

/** Bytes that a tree takes on the disk. */
export async function treeBytes(root: string): Promise<number> {
  return Number.parseInt(await runTool("du", ["-s", "--block-size=1", "--", root]), 10);
}

/** Removes from `target` what is a folder in one of the trees and something else in the other, so that `cp` can merge. */
async function removeConflicts(source: string, target: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const below = join(target, entry.name);
    const stats = await lstat(below).catch(() => undefined);
    if (stats === undefined) continue;
    if (stats.isDirectory() !== entry.isDirectory()) await rm(below, { recursive: true, force: true });
    else if (entry.isDirectory()) await removeConflicts(join(source, entry.name), below);
  }
}

/** Copies trees over one another into an empty one; the first has the highest priority. */
export async function copyTrees(sources: readonly string[], target: string): Promise<void> {
  for (const [index, source] of sources.toReversed().entries()) {
    if (index > 0) await removeConflicts(source, target);
    await runTool("cp", ["-a", "--reflink=auto", "--remove-destination", "-T", "--", source, target]);
  }
}
