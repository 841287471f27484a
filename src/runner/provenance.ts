import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { z } from "zod";

// The same two steps up from src/runner/ in a checkout and from dist/runner/ in the package.
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Version of this evoweb, and its commit where it runs from a git checkout. */
export function evowebVersion(): { readonly version: string; readonly commit: string | null } {
  const manifest = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")));
  return { version: manifest.version, commit: existsSync(`${ROOT}.git`) ? commitOf(ROOT) : null };
}

function commitOf(root: string): string | null {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const sha = git("rev-parse", "HEAD");
    const isDirty = git("status", "--porcelain", "--untracked-files=no") !== "";
    return isDirty ? `${sha}-dirty` : sha;
  } catch {
    return null;
  }
}

/** The machine a run ran on, as far as it can explain differences between runs. */
export function hostFacts(): {
  readonly node: string;
  readonly os: string;
  readonly cores: number;
  readonly memoryBytes: number;
} {
  return {
    node: process.versions.node,
    os: `${platform()} ${release()} ${arch()}`,
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}
