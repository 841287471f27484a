import { readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { AppProxy } from "../../src/runner/app-proxy.ts";
import { InstallCache } from "../../src/runner/app-install.ts";
import type { AppDown } from "../../src/runner/app-down.ts";
import { startApp, type RunningApp, type StartOptions } from "../../src/runner/running-app.ts";
import type { Sandbox } from "../../src/runner/sandbox.ts";
import { prepareApp, type AppSource } from "../../src/runner/serve.ts";
import { packTar } from "../../src/runner/tar.ts";

const FIXTURES = new URL("../fixtures/serve/", import.meta.url).pathname;
export const limits = { memoryBytes: 1024 * 1024 * 1024, cpus: 2, pids: 256 };

/** Files by path as a snapshot. */
export function sourceOf(files: Readonly<Record<string, string>>): AppSource {
  const entries = Object.entries(files);
  return {
    paths: entries.map(([path]) => path),
    readFile: async (path) => (files[path] === undefined ? null : Buffer.from(files[path])),
    toTar: async () => packTar(entries.map(([path, content]) => ({ path, mode: 0o644, bytes: Buffer.from(content) }))),
  };
}

/** The files of a fixture, with the given script as `dev` when there is one. */
export async function fixture(name: string, dev?: string): Promise<Record<string, string>> {
  const folder = join(FIXTURES, name);
  const files: Record<string, string> = {};
  for (const path of await readdir(folder)) {
    if (path !== ".gitkeep") files[path] = await readFile(join(folder, path), "utf8");
  }
  const json = files["package.json"];
  if (dev !== undefined && json !== undefined) {
    files["package.json"] = JSON.stringify({ ...JSON.parse(json), scripts: { dev } });
  }
  return files;
}

/** A running app together with what it stands on. */
export type Served = { readonly app: RunningApp | AppDown; readonly log: string } & AsyncDisposable;

/** Prepares and starts an app. */
export async function serve(
  sandbox: Sandbox,
  files: Readonly<Record<string, string>>,
  more: Partial<StartOptions> = {},
): Promise<Served> {
  const opened: AsyncDisposable[] = [];
  const keep = <R extends object>(resource: R): R => {
    if (Symbol.asyncDispose in resource) opened.unshift(resource as R & AsyncDisposable);
    return resource;
  };
  const dispose = async (): Promise<void> => {
    for (const resource of opened.splice(0)) await resource[Symbol.asyncDispose]();
  };
  const installs = keep(new InstallCache());
  const common = { sandbox, label: "test", limits, signal: new AbortController().signal };
  try {
    const prepared = keep(await prepareApp(sourceOf(files), { ...common, installs, installEgress: { allow: [] } }));
    const isDown = prepared.status === "down";
    const app = isDown ? prepared : keep(await startApp(prepared, { ...common, startTimeoutMs: 15_000, ...more }));
    return { app, log: prepared.log, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** An app that has to be up. */
export function up(served: Served): RunningApp {
  if (served.app.status === "up") return served.app;
  throw new Error(`The app is down: ${JSON.stringify(served.app, undefined, 2)}`);
}

/** An app that has to be down. */
export function down(served: Served): AppDown {
  if (served.app.status === "down") return served.app;
  throw new Error(`The app is up on port ${served.app.port}.`);
}

/** A page as a browser behind the proxy gets it. */
export async function get(
  proxy: AppProxy,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const asking = request(proxy.server, { path: url, headers: { host, ...headers }, agent: false });
    asking.once("response", (incoming) => {
      text(incoming).then((body) => resolve({ status: incoming.statusCode ?? 0, text: body }), reject);
    });
    asking.once("error", reject);
    asking.end();
  });
}
