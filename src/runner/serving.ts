import { InstallCache } from "./app-install.ts";
import type { AppDown } from "./app-down.ts";
import { limitsOf } from "./limits.ts";
import type { RunOptions } from "./options.ts";
import { startApp, type RunningApp } from "./running-app.ts";
import type { Sandbox } from "./sandbox.ts";
import { prepareApp, type AppSource, type PreparedApp } from "./serve.ts";
import type { Snapshot, SnapshotStore } from "./snapshot-store.ts";

/** How the apps of one row are prepared and started; dependencies are shared between its requests. */
export interface Serving extends AsyncDisposable {
  /** Installs and builds a snapshot; an equal tree right after is not prepared again. */
  prepare(snapshot: Pick<Snapshot, "sha" | "tree">): Promise<PreparedApp | AppDown>;
  start(prepared: PreparedApp): Promise<RunningApp | AppDown>;
}

/** What serving needs. */
export interface ServingOptions {
  readonly sandbox: Sandbox;
  readonly store: SnapshotStore;
  readonly options: RunOptions;
  /** Targets ("host:port") that installs may reach. */
  readonly installTargets: readonly string[];
  /** Short name for the places, such as "app-0001". */
  readonly label: string;
  readonly signal: AbortSignal;
}

export function createServing(serving: ServingOptions): Serving {
  const { sandbox, store, options, installTargets, label, signal } = serving;
  const limits = limitsOf(options);
  const installs = new InstallCache();
  let last: { readonly tree: string; readonly app: PreparedApp | AppDown } | null = null;
  const dropLast = async (): Promise<void> => {
    const dropped = last;
    last = null;
    if (dropped?.app.status === "prepared") await dropped.app[Symbol.asyncDispose]();
  };
  return {
    async prepare({ sha, tree }) {
      if (last?.tree === tree) return last.app;
      await dropLast();
      const app = await prepareApp(await sourceOf(store, sha), {
        sandbox,
        label,
        limits,
        installEgress: { allow: installTargets },
        installs,
        installTimeoutMs: options.installTimeoutMs,
        buildTimeoutMs: options.buildTimeoutMs,
        signal,
      });
      last = { tree, app };
      return app;
    },
    start: (prepared) => startApp(prepared, { sandbox, label, limits, startTimeoutMs: options.startTimeoutMs, signal }),
    async [Symbol.asyncDispose]() {
      await dropLast();
      await installs[Symbol.asyncDispose]();
    },
  };
}

async function sourceOf(store: SnapshotStore, sha: string): Promise<AppSource> {
  const files = await store.list(sha);
  return {
    paths: files.map(({ path }) => path),
    readFile: (path) => store.readFile(sha, path),
    toTar: () => store.toTar(sha),
  };
}
