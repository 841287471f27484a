import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { EvowebError } from "../errors.ts";

// The host's git sees only repositories of ours. No configuration of the user or the machine may change what it does.
const GIT_ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin",
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
};

/** A git process on one of our bare repositories, its streams open. */
export function spawnGit(gitDir: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn("git", [`--git-dir=${gitDir}`, ...args], { env: GIT_ENV, stdio: "pipe" });
}

/** Waits until a git process has ended; throws `EvowebError("git")` with its own words when it failed. */
export async function endOfGit(child: ChildProcessWithoutNullStreams, what: string): Promise<void> {
  const errors: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const failure = (reason: string): EvowebError =>
    new EvowebError("git", `git could not ${what}: ${reason}. Is git installed, and is the disk full?`);
  const [code] = await Promise.race([
    once(child, "close") as Promise<[number | null]>,
    once(child, "error").then(([error]: Error[]) => {
      throw failure(error?.message ?? "it did not start");
    }),
  ]);
  if (code !== 0) throw failure(Buffer.concat(errors).toString("utf8").trim() || `exit code ${code}`);
}

/** Runs git to its end and returns what it printed. */
export async function git(gitDir: string, args: readonly string[], input = ""): Promise<Buffer> {
  const child = spawnGit(gitDir, args);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A git that ends early closes its input; its exit code says why.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  await endOfGit(child, args[0] ?? "run");
  return Buffer.concat(chunks);
}
