import { openBrowserPool, type BrowserPool } from "../judge/browser-pool.ts";
import { findChromium } from "../judge/chromium.ts";
import { CleanupStack } from "../runner/cleanup-stack.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import { openSandbox } from "../runner/open-sandbox.ts";
import type { RunOptions } from "../runner/options.ts";
import { registryTargets } from "../runner/registry.ts";
import type { Sandbox } from "../runner/sandbox.ts";

/** What apps are served in and looked at with, without an agent. */
export interface Looking extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly pool: BrowserPool;
  /** Targets ("host:port") that installs may reach. */
  readonly installTargets: readonly string[];
}

/** What decides where apps are served. */
export interface LookingFor {
  readonly options: RunOptions;
  readonly runId: string;
  /** Who wrote the apps; null for those of a data set, which may be served without isolation. */
  readonly agent: string | null;
}

/** Opens a sandbox and browsers as a run does. Throws as they do. */
export async function openLooking(
  about: { readonly environment: RunEnvironment; readonly say: (line: string) => void; readonly signal: AbortSignal },
  { options, runId, agent }: LookingFor,
): Promise<Looking> {
  const { environment, say, signal } = about;
  const author = { name: agent ?? "of the data set", runsGeneratedCommands: agent !== null };
  const cleanup = new CleanupStack();
  try {
    const sandbox = await openSandbox({ options, agent: author, environment, runId, say, signal });
    cleanup.defer(async () => sandbox[Symbol.asyncDispose]());
    const chromium = await findChromium({ explicitPath: environment.chromium, playwrightAllowed: true });
    const pool = await openBrowserPool({ chromium });
    cleanup.defer(async () => pool[Symbol.asyncDispose]());
    const installTargets = [...(await registryTargets()), ...options.allow];
    return { sandbox, pool, installTargets, [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose]() };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}
