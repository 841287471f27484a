import { execFile, spawn } from "node:child_process";
import { access, constants, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium } from "playwright";
import { EvowebError, messageOf } from "../errors.ts";

const run = promisify(execFile);

/** A Chromium that can be started here. */
export interface Chromium {
  readonly executablePath: string;
  /** The headless shell is several times cheaper than the full browser in headless mode. */
  readonly kind: "headless-shell" | "full";
  /** Version as the program says it, such as "156.0.8078.114". */
  readonly version: string;
}

/** Where to look for a Chromium. */
export interface FindChromiumOptions {
  /** The user's own choice (EVOWEB_CHROMIUM); nothing else is tried when it is set. */
  readonly explicitPath?: string | undefined;
  /** Whether Playwright's own downloads count. */
  readonly playwrightAllowed: boolean;
}

async function versionOf(executablePath: string): Promise<string> {
  const { stdout } = await run(executablePath, ["--version"], { timeout: 20_000 });
  const version = /\d+(\.\d+){1,3}/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`"--version" printed no version: ${stdout.slice(0, 100)}`);
  return version;
}

const kindOf = (path: string): Chromium["kind"] => (/headless[-_]shell/.test(path) ? "headless-shell" : "full");

async function inPath(name: string): Promise<string | undefined> {
  try {
    return (await run("/bin/sh", ["-c", `command -v ${name}`])).stdout.trim();
  } catch {
    return undefined;
  }
}

/** Playwright's headless shell lies beside its full browser, in a folder with the same revision. */
async function playwrightShell(): Promise<string | undefined> {
  const revision = /^(.*)[/\\]chromium-(\d+)[/\\]/.exec(chromium.executablePath());
  const base = revision === null ? "" : join(revision[1] ?? "", `chromium_headless_shell-${revision[2]}`);
  const folders = await readdir(base).catch(() => []);
  const candidates = folders.flatMap((folder) =>
    ["chrome-headless-shell", "headless_shell"].map((name) => join(base, folder, name)),
  );
  for (const path of candidates) {
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

const isExecutable = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function* candidates(playwrightAllowed: boolean): AsyncGenerator<string> {
  const shell = await inPath("chromium-headless-shell");
  if (shell !== undefined) yield shell;
  const downloaded = playwrightAllowed ? await playwrightShell() : undefined;
  if (downloaded !== undefined) yield downloaded;
  for (const name of ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]) {
    const path = await inPath(name);
    if (path !== undefined) yield path;
  }
  if (playwrightAllowed && (await isExecutable(chromium.executablePath()))) yield chromium.executablePath();
}

/**
 * Finds a Chromium: the user's choice, else a headless shell, else a full browser. A candidate that cannot say its version
 * is passed over. Throws `EvowebError("browser")` naming what to do when there is none, or when the user's choice is unusable.
 */
export async function findChromium(options: FindChromiumOptions): Promise<Chromium> {
  const { explicitPath } = options;
  if (explicitPath !== undefined) {
    const version = await versionOf(explicitPath).catch((error: unknown) => {
      throw new EvowebError(
        "browser",
        `EVOWEB_CHROMIUM names "${explicitPath}", which cannot be used as a Chromium (${messageOf(error)}). Name another one or unset it.`,
        { cause: error },
      );
    });
    return { executablePath: explicitPath, kind: kindOf(explicitPath), version };
  }
  const unusable: string[] = [];
  for await (const executablePath of candidates(options.playwrightAllowed)) {
    try {
      return { executablePath, kind: kindOf(executablePath), version: await versionOf(executablePath) };
    } catch (error) {
      unusable.push(`${executablePath}: ${messageOf(error)}`);
    }
  }
  throw new EvowebError(
    "browser",
    `No usable Chromium was found${unusable.map((line) => `; ${line}`).join("")}. Install chromium-headless-shell, run ./evoweb, or set EVOWEB_CHROMIUM.`,
  );
}

async function runShown(argv: readonly [string, ...string[]], progress: (line: string) => void): Promise<void> {
  const child = spawn(argv[0], argv.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  const lastLines: string[] = [];
  const show = (line: string): void => {
    if (line.trim() === "") return;
    progress(line);
    lastLines.push(line);
    if (lastLines.length > 5) lastLines.shift();
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", show);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")} ended with ${String(exitCode)}: ${lastLines.join(" | ")}`);
}

/**
 * Installs a headless Chromium and returns it: with apt where we are root on Debian or Ubuntu (it brings the libraries, and an
 * unprivileged user can start it), else with Playwright's download. `progress` gets one line at a time.
 * Throws `EvowebError("browser")` with the reason of each way that failed.
 */
export async function installChromium(progress: (line: string) => void): Promise<Chromium> {
  const playwrightCli = join(dirname(createRequire(import.meta.url).resolve("playwright/package.json")), "cli.js");
  const ways: (readonly [string, ...string[]])[] = [];
  if (process.getuid?.() === 0 && (await inPath("apt-get")) !== undefined) {
    const install = "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
    ways.push(["/bin/sh", "-c", `apt-get update; ${install} chromium-headless-shell || ${install} chromium`]);
  }
  ways.push([process.execPath, playwrightCli, "install", "chromium-headless-shell"]);
  const failures: string[] = [];
  for (const way of ways) {
    try {
      await runShown(way, progress);
      return await findChromium({ playwrightAllowed: true });
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  throw new EvowebError(
    "browser",
    `No Chromium could be installed: ${failures.join("; ")}. Install chromium-headless-shell yourself, or set EVOWEB_CHROMIUM.`,
  );
}
