import { existsSync, readdirSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { EvowebError } from "../errors.ts";
import { appDirName, readRunPlan } from "../trace/run-folder.ts";
import type { RunEnvironment } from "./environment.ts";
import { snapshotDir } from "./open-app-judging.ts";
import { openSandbox } from "./open-sandbox.ts";
import { RunOptions } from "./options.ts";
import { registryTargets } from "./registry.ts";

import { createServing } from "./serving.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { readTar } from "./tar.ts";

/** Which snapshot of a run. */
export interface SnapshotName {
  readonly runDir: string;
  /** 1-based position of the app in the run's data set. */
  readonly sampleIndex: number;
  /** 1-based. */
  readonly request: number;
}

async function open({ runDir, sampleIndex, request }: SnapshotName): Promise<{ store: SnapshotStore; sha: string }> {
  const { rows } = readRunPlan(runDir);
  if (!rows.some((row) => row.sampleIndex === sampleIndex)) {
    const known = rows.map((row) => row.sampleIndex).join(", ");
    throw new EvowebError("usage", `${runDir} has no app ${sampleIndex}; it has ${known}`);
  }
  const dir = snapshotDir(join(runDir, appDirName(sampleIndex)));
  const store = existsSync(dir) ? await SnapshotStore.open(dir) : null;
  const sha = (await store?.find(request)) ?? null;
  if (store === null || sha === null) {
    throw new EvowebError("usage", `app ${sampleIndex} of ${runDir} has no snapshot after request ${request}`);
  }
  return { store, sha };
}

/**
 * Writes the app as it was after a request into a new or empty folder; returns the number of files. The files come from a
 * program that nobody has read: links that lead out of the folder are written as links and not followed.
 */
export async function checkoutSnapshot(name: SnapshotName, out: string): Promise<number> {
  const { store, sha } = await open(name);
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new EvowebError("usage", `${out} is not empty; name a new folder with --out`);
  }
  const links: { readonly path: string; readonly target: string }[] = [];
  let files = 0;
  for await (const { header, body } of readTar(await store.toTar(sha))) {
    const path = resolve(out, header.name);
    files += 1;
    await mkdir(dirname(path), { recursive: true });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    if (header.type === "symlink") links.push({ path, target: header.linkname });
    else await writeFile(path, Buffer.concat(chunks), { mode: header.mode });
  }
  // Links come last, so that no file is ever written through one.
  for (const { path, target } of links) await symlink(target, path);
  return files;
}

/** How a snapshot is served for a person to look at. */
export interface ServeOptions {
  readonly sandbox?: "docker" | "local";
  readonly environment: RunEnvironment;
  readonly say: (line: string) => void;
  /** Called with the address once the app answers. */
  readonly ready: (url: string) => void;
  /** Serving goes on until this is aborted. */
  readonly signal: AbortSignal;
}

/** Installs and starts a snapshot as a run does, reachable on 127.0.0.1, until the signal; throws when the app does not come up. */
export async function serveSnapshot(name: SnapshotName, serve: ServeOptions): Promise<void> {
  const { environment, say, signal } = serve;
  const { store, sha } = await open(name);
  const options = RunOptions.parse(serve.sandbox === undefined ? {} : { sandbox: serve.sandbox });
  // Whoever looks at an app asked for it, but only of an agent's code that has been judged in a sandbox before.
  const agent = { name: "of the run", runsGeneratedCommands: true };
  const runId = `checkout-${process.pid}`;
  await using sandbox = await openSandbox({ options, agent, environment, runId, say, signal });
  const label = `checkout-${name.request}`;
  await using serving = createServing({
    sandbox,
    store,
    options,
    installTargets: await registryTargets(),
    label,
    signal,
  });
  const prepared = await serving.prepare({ sha, tree: await store.treeOf(sha) });
  const app = prepared.status === "down" ? prepared : await serving.start(prepared);
  if (app.status === "down") {
    const facts = JSON.stringify({ class: app.class, ...app.evidence }, undefined, 2);
    throw new EvowebError("sandbox", `the app does not come up; this is what a run would have recorded:\n${facts}`);
  }
  await using running = app;
  const server = await forward(() => running.place.connect(running.port));
  const address = server.address();
  serve.ready(`http://localhost:${typeof address === "object" && address !== null ? address.port : 0}/`);
  await new Promise<void>((done) => {
    if (signal.aborted) done();
    signal.addEventListener("abort", () => done(), { once: true });
  });
  server.close();
}

async function forward(connect: () => Promise<Duplex>): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    void connectBoth(socket, connect);
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", done);
  });
  return server;
}

async function connectBoth(socket: Socket, connect: () => Promise<Duplex>): Promise<void> {
  try {
    const app = await connect();
    app.on("error", () => socket.destroy());
    socket.on("error", () => app.destroy());
    socket.pipe(app).pipe(socket);
  } catch {
    // The app is gone; a browser shows a closed connection as what it is.
    socket.destroy();
  }
}
