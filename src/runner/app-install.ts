import { Readable } from "node:stream";
import { EvowebError } from "../errors.ts";
import { appDown, endFacts, joinOutput, logTail, refusals, type AppDown } from "./app-down.ts";
import type { AppPlan, InstallPlan } from "./app-plan.ts";
import type { CommandResult, Egress, Place, PlaceLimits, Sandbox } from "./sandbox.ts";
import { packTar } from "./tar.ts";

const VERSION_TIMEOUT_MS = 60_000;
const PING_TIMEOUT_MS = 45_000;
const LOG_BYTES = 256 * 1024;
const NOTHING: Egress = { allow: [] };
/** Package managers ask for nothing, report to nobody, and put packages where every bundler finds them. */
const INSTALL_ENV = {
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  COREPACK_ENABLE_DOWNLOAD_PROMPT: "0",
  YARN_NODE_LINKER: "node-modules",
  YARN_ENABLE_TELEMETRY: "0",
  NO_COLOR: "1",
};

/** What an install needs to know about where it runs. */
export interface InstallTask {
  readonly sandbox: Sandbox;
  readonly label: string;
  readonly limits: PlaceLimits;
  readonly installEgress: Egress;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An installed tree's log. */
export interface Installed {
  readonly status: "installed";
  readonly log: string;
}

/** A place that holds node_modules and nothing else. */
export interface InstalledLayer extends Installed {
  readonly place: Place;
}

/** Runs one command of the preparation to its end. */
export async function runStep(
  place: Place,
  command: { argv: readonly [string, ...string[]]; cwd: string; timeoutMs: number; signal: AbortSignal },
): Promise<CommandResult> {
  const result = await place.exec({ ...command, env: INSTALL_ENV, maxOutputBytes: LOG_BYTES });
  command.signal.throwIfAborted();
  return result;
}

/** Ways to start a package manager, the first that answers wins; only npm is always there. */
const LAUNCHERS: Readonly<Record<InstallPlan["manager"], readonly (readonly [string, ...string[]])[]>> = {
  npm: [["npm"]],
  pnpm: [["pnpm"], ["corepack", "pnpm"], ["npx", "--yes", "pnpm"]],
  yarn: [["yarn"], ["corepack", "yarn"], ["npx", "--yes", "yarn"]],
};

async function findLauncher(
  place: Place,
  plan: InstallPlan,
  task: InstallTask,
): Promise<readonly [string, ...string[]] | null> {
  const launchers = LAUNCHERS[plan.manager];
  if (launchers.length === 1) return launchers[0] ?? null;
  const timeoutMs = Math.min(task.timeoutMs, VERSION_TIMEOUT_MS);
  for (const launcher of launchers) {
    const asked = await runStep(place, { argv: [...launcher, "--version"], cwd: ".", timeoutMs, signal: task.signal });
    if (asked.exitCode === 0) return launcher;
  }
  return null;
}

/**
 * Installs in a place whose tree is there; what the place may reach is the install's allow-list meanwhile, nothing after.
 * Throws `EvowebError("sandbox")` when it failed because no registry is in reach: that is not the app's doing.
 */
export async function installIn(place: Place, plan: AppPlan, task: InstallTask): Promise<Installed | AppDown> {
  const { install, folder } = plan;
  if (install === null) return { status: "installed", log: "" };
  await place.setEgress(task.installEgress);
  try {
    const launcher = await findLauncher(place, install, task);
    if (launcher === null) {
      return appDown("install_failed", { reason: `${install.manager} is not available in the sandbox` }, "");
    }
    const argv = [...launcher, ...install.args] as const;
    const { timeoutMs, signal } = task;
    const result = await runStep(place, { argv, cwd: folder, timeoutMs, signal });
    const command = argv.join(" ");
    const log = joinOutput(command, result.stdout, result.stderr);
    if (result.exitCode === 0 && result.how === "exited") return { status: "installed", log };
    const isMaybeNetwork = install.needsPackages && result.how !== "out_of_memory";
    if (isMaybeNetwork && !(await registryAnswers(place, signal))) throw unreachable(place.label, log);
    const facts = { command, ...endFacts(result), durationMs: result.durationMs, refused: refusals(place.egressLog()) };
    return appDown(result.how === "out_of_memory" ? "out_of_memory" : "install_failed", facts, log);
  } finally {
    await place.endProcesses(0);
    await place.setEgress(NOTHING);
  }
}

/**
 * Whether the package registry can be reached from here at all: asked only when an install failed, from outside the app's
 * folder so that its own npm settings do not count. The exit code decides.
 */
async function registryAnswers(place: Place, signal: AbortSignal): Promise<boolean> {
  const script = "cd / && exec npm ping --fetch-retries=1 --fetch-retry-mintimeout=500 --fetch-timeout=15000";
  const argv = ["/bin/sh", "-c", script] as const;
  const { exitCode } = await runStep(place, { argv, cwd: ".", timeoutMs: PING_TIMEOUT_MS, signal });
  return exitCode === 0;
}

function unreachable(label: string, log: string): EvowebError {
  return new EvowebError(
    "sandbox",
    `${label}: an install failed and the package registry cannot be reached from the sandbox. Is there a network? ` +
      `Behind a proxy with a certificate authority of its own, give its file by --ca-file or EVOWEB_CA_FILE\n${logTail(log)}`,
  );
}

async function installLayer(plan: AppPlan, install: InstallPlan, task: InstallTask): Promise<InstalledLayer | AppDown> {
  const place = await task.sandbox.open({ label: `${task.label}-deps`, limits: task.limits, egress: NOTHING });
  let isKept = false;
  try {
    const files = [...install.inputs].map(([path, text]) => ({ path, mode: 0o644, bytes: Buffer.from(text) }));
    await place.writeTree(Readable.from(packTar(files)));
    const installed = await installIn(place, plan, task);
    if (installed.status === "down") return installed;
    // A lockfile that this install wrote must not show through where the snapshot has none.
    await place.clearTree(["node_modules"]);
    isKept = true;
    return { ...installed, place };
  } finally {
    if (!isKept) await place[Symbol.asyncDispose]();
  }
}

/** Installed dependencies of a run by cache key; disposing removes them, so it has to outlive every place above them. */
export class InstallCache implements AsyncDisposable {
  readonly #layers = new Map<string, Promise<InstalledLayer | AppDown>>();

  /** The layer for a plan with a cache key, made when it is not there; failures are not kept. */
  async layerFor(plan: AppPlan, install: InstallPlan, task: InstallTask): Promise<InstalledLayer | AppDown> {
    const key = install.cacheKey ?? "";
    const known = this.#layers.get(key);
    if (known !== undefined) return known;
    const making = installLayer(plan, install, task);
    this.#layers.set(key, making);
    const made = await making.catch((error: unknown) => {
      this.#layers.delete(key);
      throw error;
    });
    if (made.status === "down") this.#layers.delete(key);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const layers = [...this.#layers.values()];
    this.#layers.clear();
    for (const layer of layers) {
      const made = await layer.catch(() => undefined);
      if (made?.status === "installed") await made.place[Symbol.asyncDispose]();
    }
  }
}
