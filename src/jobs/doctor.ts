// What this machine can run, and how to mend what it cannot.
import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { promisify } from "node:util";
import { messageOf } from "../errors.ts";
import { findChromium, installChromium } from "../judge/chromium.ts";
import { engineVersion } from "../runner/docker/engine.ts";
import type { RunEnvironment } from "../runner/environment.ts";

/** One thing that a run needs or can use. */
export interface DoctorFinding {
  readonly name: "node" | "git" | "tar" | "browser" | "docker" | "disk" | "machine";
  /** "missing" stops every run; "limited" takes something away, such as isolation. */
  readonly status: "ok" | "limited" | "missing";
  /** What was found, in one line. */
  readonly found: string;
  /** How to mend it; absent when there is nothing to mend. */
  readonly fix?: string;
}

/** What to look at. */
export interface DoctorOptions {
  readonly environment: RunEnvironment;
  /** Only the browser, for a quick look before a run. */
  readonly only?: "browser";
  /** Installs a browser when none is found. */
  readonly fix: boolean;
  readonly say: (line: string) => void;
}

const GIB = 1024 ** 3;
const LOW_DISK_BYTES = 2 * GIB;

/** Looks at everything a run needs; never throws for what is missing. */
export async function examine(options: DoctorOptions): Promise<readonly DoctorFinding[]> {
  if (options.only === "browser") return [await browser(options)];
  return Promise.all([
    node(),
    program("git", "Install git (apt-get install git)."),
    program("tar", "Install GNU tar."),
    browser(options),
    docker(options.environment),
    disk(),
    machine(),
  ]);
}

async function node(): Promise<DoctorFinding> {
  const { node: version } = process.versions;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return { name: "node", status: "ok", found: `Node ${version}` };
  return { name: "node", status: "missing", found: `Node ${version}`, fix: "Install Node 20.19 or newer." };
}

async function program(name: "git" | "tar", fix: string): Promise<DoctorFinding> {
  try {
    const { stdout } = await promisify(execFile)(name, ["--version"]);
    return { name, status: "ok", found: stdout.split("\n", 1)[0] ?? "" };
  } catch {
    return { name, status: "missing", found: `no ${name} in PATH`, fix };
  }
}

async function browser({ environment, fix, say }: DoctorOptions): Promise<DoctorFinding> {
  const find = () => findChromium({ explicitPath: environment.chromium, playwrightAllowed: true });
  try {
    const chromium = await find().catch((error: unknown) => {
      // A browser that was named and is unusable is for its owner to mend, not to be replaced silently.
      if (!fix || environment.chromium !== undefined) throw error;
      say("no Chromium found, installing one ...");
      return installChromium(say);
    });
    const { version, kind, executablePath } = chromium;
    return { name: "browser", status: "ok", found: `Chromium ${version} (${kind}) at ${executablePath}` };
  } catch (error) {
    const way = "evoweb doctor --fix, or set EVOWEB_CHROMIUM to a Chromium";
    return { name: "browser", status: "missing", found: messageOf(error), fix: `Run: ${way}.` };
  }
}

async function docker(environment: RunEnvironment): Promise<DoctorFinding> {
  try {
    const version = await engineVersion(environment);
    return { name: "docker", status: "ok", found: `engine ${version}; the sandbox image is built on first use` };
  } catch (error) {
    return {
      name: "docker",
      status: "limited",
      found: messageOf(error),
      fix: "Start or install a Docker engine; without one only --sandbox local works, which isolates nothing.",
    };
  }
}

async function disk(): Promise<DoctorFinding> {
  const { bavail, bsize } = await statfs(process.cwd());
  const freeBytes = bavail * bsize;
  const found = `${(freeBytes / GIB).toFixed(1)} GiB free in ${process.cwd()}`;
  if (freeBytes >= LOW_DISK_BYTES) return { name: "disk", status: "ok", found };
  return { name: "disk", status: "limited", found, fix: "A run with Docker needs about 2 GiB; free some space." };
}

async function machine(): Promise<DoctorFinding> {
  const found = `${cpus().length} cores, ${(totalmem() / GIB).toFixed(0)} GiB memory`;
  return { name: "machine", status: "ok", found };
}
