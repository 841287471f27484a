import { expect, test } from "vitest";
import { pathsToRead, planApp, type AppPlan, type InvalidApp } from "../../src/runner/app-plan.ts";

function plan(files: Readonly<Record<string, unknown>>): AppPlan | InvalidApp {
  const paths = Object.keys(files);
  const texts = new Map(
    pathsToRead(paths).map((path) => {
      const content = files[path];
      return [path, typeof content === "string" ? content : JSON.stringify(content)];
    }),
  );
  return planApp({ paths, texts });
}

function planned(files: Readonly<Record<string, unknown>>): AppPlan {
  const made = plan(files);
  if (made.status === "invalid") throw new Error(made.reason);
  return made;
}

const dependencies = { left: "1.0.0" };
const scripts = { dev: "vite", build: "vite build", start: "node server.js" };

test("dev comes before start, start before static files", () => {
  expect(planned({ "package.json": { scripts }, "index.html": "" })).toMatchObject({
    folder: ".",
    install: null,
    build: null,
    start: { kind: "script", argv: ["npm", "run", "dev"] },
  });
  expect(planned({ "package.json": { scripts: { ...scripts, dev: " " } } })).toMatchObject({
    build: ["npm", "run", "build"],
    start: { argv: ["npm", "run", "start"] },
  });
  expect(planned({ "package.json": { scripts: { start: "x" } } }).build).toBeNull();
  expect(planned({ "package.json": { scripts: { build: "x" } }, "index.html": "" })).toMatchObject({
    build: null,
    start: { kind: "static" },
  });
  expect(planned({ "index.html": "", "src/package.json": { scripts } })).toMatchObject({
    folder: ".",
    start: { kind: "static" },
  });
});

test("a package.json in exactly one top-level folder is used when the root has no app", () => {
  expect(
    planned({ "README.md": "", "web/package.json": { scripts, dependencies }, "web/yarn.lock": "" }),
  ).toMatchObject({
    folder: "web",
    install: { manager: "yarn", args: ["install", "--frozen-lockfile"] },
  });
  expect(plan({ "web/package.json": { scripts }, "api/package.json": { scripts } })).toMatchObject({
    status: "invalid",
  });
  expect(plan({ "a/b/package.json": { scripts } })).toMatchObject({ status: "invalid" });
});

test.each([
  [{ "package-lock.json": "{}" }, "npm", ["ci"]],
  [{ "npm-shrinkwrap.json": "{}", "yarn.lock": "" }, "npm", ["ci"]],
  [{ "pnpm-lock.yaml": "" }, "pnpm", ["install", "--frozen-lockfile"]],
  [{ "yarn.lock": "# yarn lockfile v1" }, "yarn", ["install", "--frozen-lockfile"]],
  [{ "yarn.lock": "__metadata:\n  version: 8" }, "yarn", ["install", "--immutable"]],
  [{}, "npm", ["install"]],
])("the lockfile %j decides: %s %j", (lockfiles, manager, args) => {
  const { install } = planned({ "package.json": { scripts, dependencies }, ...lockfiles });
  expect(install).toMatchObject({ manager, args });
  expect([...(install?.inputs.keys() ?? [])].toSorted()).toEqual(
    ["package.json", ...Object.keys(lockfiles)].slice(0, 2).toSorted(),
  );
});

test("nothing to install without dependencies and scripts of its own", () => {
  expect(planned({ "package.json": { scripts, dependencies: {} }, "package-lock.json": "{}" }).install).toBeNull();
  expect(planned({ "package.json": { scripts, devDependencies: dependencies } }).install).not.toBeNull();
  expect(planned({ "package.json": { scripts: { ...scripts, postinstall: "x" } } }).install).toMatchObject({
    cacheKey: null,
  });
});

test("installs are shared by lockfile, settings and dependencies, not by anything else", () => {
  const key = (json: object, more: Record<string, string> = {}): string | null | undefined =>
    planned({ "package.json": { scripts, dependencies, ...json }, "package-lock.json": "lock", ...more }).install
      ?.cacheKey;
  expect(key({})).toMatch(/^[0-9a-f]{64}$/);
  expect(key({ name: "other", version: "2", scripts: { start: "x" } })).toBe(key({}));
  expect(key({}, { "src/index.js": "" })).toBe(key({}));
  expect(key({ dependencies: { left: "2" } })).not.toBe(key({}));
  expect(key({}, { "package-lock.json": "other" })).not.toBe(key({}));
  expect(key({}, { ".npmrc": "legacy-peer-deps=true" })).not.toBe(key({}));
  for (const json of [
    { scripts: { ...scripts, prepare: "husky" } },
    { workspaces: ["packages/*"] },
    { dependencies: { local: "file:./local" } },
    { dependencies: { local: "../local" } },
  ]) {
    expect(key(json)).toBeNull();
  }
  expect(key({}, { "binding.gyp": "" })).toBeNull();
});

test.each([
  [{}, /empty/],
  [{ "README.md": "" }, /no package.json/],
  [{ "package.json": { scripts: { test: "x" } }, "dist/index.html": "" }, /neither a dev nor a start script/],
  [{ "package.json": "{ not json" }, /JSON object/],
  [{ "package.json": [] }, /JSON object/],
])("%j cannot be started", (files, reason) => {
  expect(plan(files)).toMatchObject({ status: "invalid", reason: expect.stringMatching(reason) });
});

test("odd but valid package.json files are read", () => {
  expect(planned({ "package.json": `\uFEFF${JSON.stringify({ scripts })}` }).start).toMatchObject({ kind: "script" });
  expect(planned({ "package.json": { scripts: [], dependencies: "none" }, "index.html": "" }).start).toEqual({
    kind: "static",
  });
  expect(plan({ "package.json": { scripts: { dev: 7 } } })).toMatchObject({ status: "invalid" });
});
