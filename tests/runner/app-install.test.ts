import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { InstallCache } from "../../src/runner/app-install.ts";
import { openLocalSandbox } from "../../src/runner/local-sandbox.ts";
import type { Place, Sandbox } from "../../src/runner/sandbox.ts";
import { prepareApp, type AppSource, type PreparedApp } from "../../src/runner/serve.ts";
import { packTar } from "../../src/runner/tar.ts";
import { limits, sourceOf } from "./serving.ts";

vi.setConfig({ testTimeout: 60_000 });

interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Paths of tarballs that were fetched. */
  readonly fetched: readonly string[];
  /** package.json and package-lock.json of an app that depends on these. */
  appFiles(names: readonly string[], scripts: Record<string, string>): Record<string, string>;
}

/** A package registry on loopback with packages that say their own name. */
async function openRegistry(): Promise<Registry> {
  const fetched: string[] = [];
  const tarball = async (name: string): Promise<Buffer> => {
    const file = (path: string, text: string) => ({ path: `package/${path}`, mode: 0o644, bytes: Buffer.from(text) });
    const json = JSON.stringify({ name, version: "1.0.0", main: "index.js" });
    return gzipSync(
      await buffer(packTar([file("package.json", json), file("index.js", `module.exports = "${name}";`)])),
    );
  };
  const server = createServer((req, res) => {
    const name = /^\/(\w+)\/-\//.exec(req.url ?? "")?.[1];
    fetched.push(req.url ?? "");
    if (req.url?.startsWith("/-/ping") === true) res.end("{}");
    else if (name === undefined) res.writeHead(404).end("{}");
    else void tarball(name).then((bytes) => res.end(bytes));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const packages = new Map<string, { version: string; resolved: string; integrity: string }>();
  for (const name of ["left", "right"]) {
    const integrity = `sha512-${createHash("sha512")
      .update(await tarball(name))
      .digest("base64")}`;
    packages.set(name, { version: "1.0.0", resolved: `${url}/${name}/-/${name}-1.0.0.tgz`, integrity });
  }
  return {
    url,
    fetched,
    appFiles(names, scripts) {
      const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
      const nodes = names.map((name) => [`node_modules/${name}`, packages.get(name)] as const);
      const lock = {
        lockfileVersion: 3,
        requires: true,
        packages: { "": { dependencies }, ...Object.fromEntries(nodes) },
      };
      return { "package.json": JSON.stringify({ scripts, dependencies }), "package-lock.json": JSON.stringify(lock) };
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const signal = new AbortController().signal;

async function prepare(sandbox: Sandbox, source: AppSource, installs: InstallCache): Promise<PreparedApp> {
  const made = await prepareApp(source, {
    sandbox,
    label: "i",
    limits,
    installs,
    installEgress: { allow: [] },
    signal,
  });
  if (made.status === "down") throw new Error(JSON.stringify(made));
  return made;
}

async function nodeSays(place: Place, script: string): Promise<string> {
  return (await place.exec({ argv: ["node", "-p", script], timeoutMs: 10_000 })).stdout.text.trim();
}

test("equal dependencies are installed once a run; different ones and lifecycle scripts get their own", async () => {
  await using registry = await openRegistry();
  await using sandbox = await openLocalSandbox({ runId: "i", env: { npm_config_registry: registry.url } });
  await using installs = new InstallCache();
  const files = registry.appFiles(["left"], { dev: "x" });
  await using first = await prepare(sandbox, sourceOf({ ...files, "a.js": "1" }), installs);
  expect(first.log).toContain("$ npm ci");
  expect(await nodeSays(first.base, "require('left')")).toBe("left");
  expect(registry.fetched).toEqual(["/left/-/left-1.0.0.tgz"]);

  await using second = await prepare(sandbox, sourceOf({ ...files, "b.js": "2" }), installs);
  expect(await nodeSays(second.base, "require('left')")).toBe("left");
  expect(await nodeSays(second.base, "fs.readdirSync('.').join()")).toBe(
    "b.js,node_modules,package-lock.json,package.json",
  );
  // Damage in one app's copy must not show in the next.
  await nodeSays(second.base, "fs.appendFileSync('node_modules/left/index.js', 'module.exports = 0')");
  await using third = await prepare(sandbox, sourceOf(files), installs);
  expect(await nodeSays(third.base, "require('left')")).toBe("left");

  const both = registry.appFiles(["left", "right"], { dev: "x", postinstall: "node -p 7 > made" });
  await using fourth = await prepare(sandbox, sourceOf(both), installs);
  expect(await nodeSays(fourth.base, "require('right') + fs.readFileSync('made')")).toBe("right7");
  expect(registry.fetched.filter((path) => path.includes("right"))).toHaveLength(1);
});

test("an app in a subfolder is installed there", async () => {
  await using registry = await openRegistry();
  await using sandbox = await openLocalSandbox({ runId: "i", env: { npm_config_registry: registry.url } });
  await using installs = new InstallCache();
  const files = Object.entries(registry.appFiles(["right"], { dev: "x" })).map(([path, text]) => [`web/${path}`, text]);
  await using prepared = await prepare(
    sandbox,
    sourceOf(Object.fromEntries(files) as Record<string, string>),
    installs,
  );
  expect(await nodeSays(prepared.base, "require('./web/node_modules/right')")).toBe("right");
});

test("a package that cannot be had, and a package manager that is not there, are failed installs", async () => {
  await using registry = await openRegistry();
  const bin = await mkdtemp(join(tmpdir(), "evoweb-test-bin-"));
  await symlink(process.execPath, join(bin, "node"));
  // Not every Node comes with an npm beside it; the one that started these tests is in PATH.
  const npm = (process.env["PATH"] ?? "").split(":").map((dir) => join(dir, "npm"));
  await symlink(npm.find((path) => existsSync(path)) ?? "npm", join(bin, "npm"));
  await symlink("/bin/sh", join(bin, "sh"));
  const env = { npm_config_registry: registry.url, npm_config_fetch_retries: "0", PATH: bin };
  await using sandbox = await openLocalSandbox({ runId: "i", env });
  await using installs = new InstallCache();
  const task = { sandbox, label: "i", limits, installs, installEgress: { allow: [] }, signal };
  const json = JSON.stringify({ scripts: { dev: "x" }, dependencies: { missing: "1.0.0" } });
  expect(await prepareApp(sourceOf({ "package.json": json }), task)).toMatchObject({
    class: "install_failed",
    evidence: { command: "npm install", exitCode: 1, logTail: expect.stringContaining("404") },
  });
  expect(await prepareApp(sourceOf({ "package.json": json, "yarn.lock": "" }), task)).toMatchObject({
    class: "install_failed",
    evidence: { reason: "yarn is not available in the sandbox" },
  });
  await rm(bin, { recursive: true });
});

test("an install that fails while no registry is in reach is a fault of the set-up, not of the app", async () => {
  // A port of loopback on which nobody listens: refused at once, as behind a broken network.
  const env = { npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };
  await using sandbox = await openLocalSandbox({ runId: "i", env });
  await using installs = new InstallCache();
  const task = { sandbox, label: "i", limits, installs, installEgress: { allow: [] }, signal };
  const json = JSON.stringify({ scripts: { dev: "x" }, dependencies: { left: "1.0.0" } });
  await expect(prepareApp(sourceOf({ "package.json": json }), task)).rejects.toMatchObject({
    code: "sandbox",
    message: expect.stringContaining("registry cannot be reached"),
  });
});

test("an install that takes too long is ended and says which limit it met; an abort is no failure of the app", async () => {
  await using sandbox = await openLocalSandbox({ runId: "i" });
  await using installs = new InstallCache();
  const json = JSON.stringify({ scripts: { dev: "x", postinstall: "sleep 98790" } });
  const task = { sandbox, label: "i", limits, installs, installEgress: { allow: [] }, signal };
  expect(await prepareApp(sourceOf({ "package.json": json }), { ...task, installTimeoutMs: 2000 })).toMatchObject({
    class: "install_failed",
    evidence: { how: "timed_out" },
  });
  const controller = new AbortController();
  const reason = new Error("the user went away");
  const aborted = prepareApp(sourceOf({ "package.json": json }), { ...task, signal: controller.signal });
  controller.abort(reason);
  await expect(aborted).rejects.toBe(reason);
});
