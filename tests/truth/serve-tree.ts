import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { FileTree } from "../../src/dataset/file-tree.ts";
import { hashTree } from "./ground-truth.ts";

const startLimitMs = 20_000;
const installLimitMs = 240_000;

const Manifest = z.object({
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
});

/** A running app on its own copy of a tree. */
export interface ServedTree extends AsyncDisposable {
  /** Undefined when the app did not start; `log` says why. */
  readonly url: string | undefined;
  readonly log: string;
  /** Stops the app and starts it again on the same files. */
  restart(): Promise<string>;
}

/** Prepares each tree once (install cached by lockfile, build) and serves copies of it. */
export class TreeServer implements AsyncDisposable {
  readonly #root: string;
  readonly #prepared = new Map<string, Promise<string>>();
  readonly #modules = new Map<string, Promise<string>>();

  private constructor(root: string) {
    this.#root = root;
  }

  static async open(): Promise<TreeServer> {
    return new TreeServer(await mkdtemp(path.join(tmpdir(), "evoweb-truth-")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Serves a fresh copy; the caller disposes it. */
  async serve(tree: FileTree): Promise<ServedTree> {
    const prepared = await this.#prepare(tree);
    const copy = await mkdtemp(path.join(this.#root, "copy-"));
    await cp(prepared, copy, { recursive: true, verbatimSymlinks: true });
    return startApp(copy);
  }

  #prepare(tree: FileTree): Promise<string> {
    return remembered(this.#prepared, hashTree(tree), async (key) => {
      const folder = path.join(this.#root, `tree-${key.slice(0, 16)}`);
      await writeTree(tree, folder);
      const manifest = await readManifest(folder);
      if (Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length > 0) {
        await symlink(await this.#install(folder), path.join(folder, "node_modules"));
      }
      // A build that fails is the app's fault: what it left behind is served, and the checks say NO.
      if (manifest.scripts["build"] !== undefined) await shell("npm run build", folder);
      return folder;
    });
  }

  async #install(folder: string): Promise<string> {
    const names = ["package.json", "package-lock.json", ".npmrc"].filter((name) => existsSync(path.join(folder, name)));
    const contents = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
    const lockAt = names.indexOf("package-lock.json");
    const key = createHash("sha256")
      .update(contents[lockAt] ?? Buffer.concat(contents))
      .digest("hex");
    return remembered(this.#modules, key, async () => {
      // Kept over runs of the tool: an install takes longer than everything else.
      const kept = path.join(tmpdir(), `evoweb-truth-modules-${key.slice(0, 16)}`);
      if (!existsSync(kept)) {
        const work = await mkdtemp(path.join(this.#root, "install-"));
        await Promise.all(names.map((name, at) => writeFile(path.join(work, name), contents[at] ?? "")));
        const { code, log } = await shell(lockAt === -1 ? "npm install" : "npm ci", work);
        if (code !== 0) throw new Error(`install failed with exit code ${String(code)}: ${log.slice(-2000)}`);
        await mkdir(path.join(work, "node_modules"), { recursive: true });
        await rename(work, kept).catch((error: unknown) => {
          if (!existsSync(kept)) throw error;
        });
      }
      return path.join(kept, "node_modules");
    });
  }
}

async function writeTree(tree: FileTree, root: string): Promise<void> {
  for (const [name, { mode, bytes }] of tree) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), bytes, { mode });
  }
}

function remembered(
  cache: Map<string, Promise<string>>,
  key: string,
  make: (key: string) => Promise<string>,
): Promise<string> {
  const found = cache.get(key) ?? make(key);
  cache.set(key, found);
  return found;
}

async function readManifest(folder: string): Promise<z.infer<typeof Manifest>> {
  const file = path.join(folder, "package.json");
  return Manifest.parse(existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : {});
}

async function shell(command: string, cwd: string): Promise<{ code: number | null; log: string }> {
  const child = spawnGroup(command, cwd, {});
  const log = collectLog(child);
  const exited = once(child, "exit");
  const timer = setTimeout(() => killGroup(child, "SIGKILL"), installLimitMs);
  await exited;
  clearTimeout(timer);
  return { code: child.exitCode, log: log() };
}

function spawnGroup(command: string, cwd: string, extraEnv: Record<string, string>): ChildProcess {
  const bin = path.join(cwd, "node_modules", ".bin");
  const env = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: process.env["HOME"] ?? "/root",
    CI: "1",
    ...extraEnv,
  };
  return spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
}

function collectLog(child: ChildProcess): () => string {
  let log = "";
  const add = (chunk: Buffer): void => {
    log = (log + chunk.toString("utf8")).slice(-20_000);
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  return () => log;
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const exited = isGone() ? Promise.resolve() : once(child, "exit").then(() => undefined);
  killGroup(child, "SIGTERM");
  const timer = setTimeout(() => killGroup(child, "SIGKILL"), 2000);
  await exited;
  clearTimeout(timer);
  killGroup(child, "SIGKILL");
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function startApp(folder: string): Promise<ServedTree> {
  const { scripts } = await readManifest(folder);
  const command = scripts["start"] ?? scripts["dev"] ?? "false";
  const port = await freePort();
  const address = `http://localhost:${String(port)}/`;
  const start = async (): Promise<{ child: ChildProcess; isUp: boolean; log: () => string }> => {
    const child = spawnGroup(command, folder, { PORT: String(port), HOST: "127.0.0.1" });
    const log = collectLog(child);
    return { child, isUp: await untilUp(child, address), log };
  };
  let running = await start();
  return {
    url: running.isUp ? address : undefined,
    get log() {
      return running.log();
    },
    async restart() {
      await stop(running.child);
      running = await start();
      return address;
    },
    async [Symbol.asyncDispose]() {
      killGroup(running.child, "SIGKILL");
      await stop(running.child);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function untilUp(child: ChildProcess, address: string): Promise<boolean> {
  const deadline = Date.now() + startLimitMs;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const status = await fetch(address, { signal: AbortSignal.timeout(2000) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 599,
    );
    if (status < 500) return true;
    await delay(15);
  }
  return false;
}
