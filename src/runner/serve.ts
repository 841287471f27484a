// How an app gets from a snapshot to a URL: plan, install, build (once a snapshot), then copies of it that are started.
import type { Readable } from "node:stream";
import { appDown, endFacts, joinOutput, type AppDown } from "./app-down.ts";
import { InstallCache, installIn, runStep, type InstallTask } from "./app-install.ts";
import { pathsToRead, planApp, type AppPlan } from "./app-plan.ts";
import type { Egress, Place, PlaceLimits, Sandbox } from "./sandbox.ts";

const INSTALL_TIMEOUT_MS = 300_000;
const BUILD_TIMEOUT_MS = 180_000;
/** More than this is no package.json or lockfile that anybody wrote or generated. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** A snapshot as serving needs it. */
export interface AppSource {
  /** Paths of all files, symlinks too. */
  readonly paths: readonly string[];
  /** Bytes of a regular file, or null when it is none. */
  readFile(path: string): Promise<Uint8Array | null>;
  /** The whole tree. */
  toTar(): Promise<Readable>;
}

/** Where and within which limits apps are prepared. */
export interface PrepareOptions {
  readonly sandbox: Sandbox;
  /** Short name for the places, such as "app-0001-r03". */
  readonly label: string;
  readonly limits: PlaceLimits;
  /** What package installs may reach; building and serving reach nothing. */
  readonly installEgress: Egress;
  /** Dependencies shared within a run; has to outlive what is prepared with it. */
  readonly installs: InstallCache;
  /** Default 300,000. */
  readonly installTimeoutMs?: number;
  /** Default 180,000. */
  readonly buildTimeoutMs?: number;
  readonly signal: AbortSignal;
}

/** A snapshot that is installed and built; every start gets a copy of it. Disposing removes it. */
export interface PreparedApp extends AsyncDisposable {
  readonly status: "prepared";
  readonly plan: AppPlan;
  readonly base: Place;
  /** Output of install and build, bounded; empty when there was nothing to do. */
  readonly log: string;
}

async function readTexts(source: AppSource): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const path of pathsToRead(source.paths)) {
    const bytes = await source.readFile(path);
    if (bytes !== null && bytes.length <= MAX_TEXT_BYTES) texts.set(path, new TextDecoder().decode(bytes));
  }
  return texts;
}

async function build(base: Place, plan: AppPlan, options: PrepareOptions): Promise<string | AppDown> {
  if (plan.build === null) return "";
  const { signal, buildTimeoutMs: timeoutMs = BUILD_TIMEOUT_MS } = options;
  const result = await runStep(base, { argv: plan.build, cwd: plan.folder, timeoutMs, signal });
  // What a build leaves running would write into the tree that copies are made from.
  await base.endProcesses(0);
  const command = plan.build.join(" ");
  const log = joinOutput(command, result.stdout, result.stderr);
  if (result.exitCode === 0 && result.how === "exited") return log;
  const facts = { command, ...endFacts(result), durationMs: result.durationMs };
  return appDown(result.how === "out_of_memory" ? "out_of_memory" : "build_failed", facts, log);
}

/** Fills a base place: dependencies from a shared layer or installed in place, then the build. Gives the log. */
async function fill(base: Place, plan: AppPlan, options: PrepareOptions): Promise<string | AppDown> {
  const isShared = plan.install?.cacheKey != null;
  const installed = isShared ? "" : await installIn(base, plan, installTask(options));
  if (typeof installed !== "string" && installed.status === "down") return installed;
  const built = await build(base, plan, options);
  if (typeof built !== "string") return built;
  return [typeof installed === "string" ? "" : installed.log, built].filter((part) => part !== "").join("\n");
}

function installTask(options: PrepareOptions): InstallTask {
  return { ...options, timeoutMs: options.installTimeoutMs ?? INSTALL_TIMEOUT_MS };
}

/**
 * Plans, installs and builds the app of a snapshot. Every way in which that fails is the app's (`AppDown`); throws
 * `EvowebError` for the sandbox's own faults, and what `signal` was aborted with.
 */
export async function prepareApp(source: AppSource, options: PrepareOptions): Promise<PreparedApp | AppDown> {
  const plan = planApp({ paths: source.paths, texts: await readTexts(source) });
  if (plan.status === "invalid") {
    return appDown("artifact_invalid", { reason: `Did not start: ${plan.reason}`, topLevel: plan.topLevel }, "");
  }
  const { install } = plan;
  const layer =
    install !== null && install.cacheKey !== null
      ? await options.installs.layerFor(plan, install, installTask(options))
      : null;
  if (layer?.status === "down") return layer;
  const base = await options.sandbox.open({
    label: `${options.label}-base`,
    limits: options.limits,
    egress: { allow: [] },
    ...(layer === null ? {} : { below: [layer.place] }),
  });
  let isKept = false;
  try {
    await base.writeTree(await source.toTar());
    const filled = await fill(base, plan, options);
    if (typeof filled !== "string") return filled;
    isKept = true;
    const log = [layer?.log ?? "", filled].filter((part) => part !== "").join("\n");
    return { status: "prepared", plan, base, log, [Symbol.asyncDispose]: () => base[Symbol.asyncDispose]() };
  } finally {
    if (!isKept) await base[Symbol.asyncDispose]();
  }
}
