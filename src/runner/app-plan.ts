import { createHash } from "node:crypto";
import { z } from "zod";

const LOCKFILES = ["npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"] as const;
const SETTINGS = [".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs"] as const;
const LIFECYCLE = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"];
const DEPENDENCY_FIELDS = ["dependencies", "devDependencies", "optionalDependencies"] as const;
/** What an install reads of package.json besides its scripts. */
const INSTALL_FIELDS = [
  ...DEPENDENCY_FIELDS,
  "peerDependencies",
  "peerDependenciesMeta",
  "bundleDependencies",
  "bundledDependencies",
  "dependenciesMeta",
  "overrides",
  "resolutions",
  "pnpm",
  "packageManager",
  "engines",
  "os",
  "cpu",
  "allowScripts",
  "trustedDependencies",
];
// A dependency that is a path needs more of the tree than package.json and lockfile.
const PATH_SPEC = /^(?:file:|link:|workspace:|portal:|patch:|\.|\/|~\/)/;
const TOP_LEVEL_SHOWN = 20;

const PackageJson = z.looseObject({ scripts: z.record(z.string(), z.unknown()).catch({}) });
type PackageJson = z.infer<typeof PackageJson>;

/** What a plan is made from: all paths of the tree, and the texts of those that `pathsToRead` names. */
export interface PlanFiles {
  readonly paths: readonly string[];
  /** By path; a path without a text is no regular file. */
  readonly texts: ReadonlyMap<string, string>;
}

/** How the dependencies get in. */
export interface InstallPlan {
  readonly manager: "npm" | "pnpm" | "yarn";
  /** Arguments of the package manager. */
  readonly args: readonly string[];
  /** Equal keys give equal node_modules; null: the install depends on more of the tree and cannot be shared. */
  readonly cacheKey: string | null;
  /** Whether packages have to come from somewhere, so that a failure may be the network's. */
  readonly needsPackages: boolean;
  /** Files that a shared install needs, by path. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** How an app gets from a tree of files to a running server. */
export interface AppPlan {
  readonly status: "planned";
  /** Folder of the app, relative to the tree's root; "." for the root itself. */
  readonly folder: string;
  /** Null: nothing to install. */
  readonly install: InstallPlan | null;
  /** Command that runs once before the first start; null: none. */
  readonly build: readonly [string, ...string[]] | null;
  /** A script of package.json, or the files of the folder as they are. */
  readonly start:
    | { readonly kind: "script"; readonly argv: readonly [string, ...string[]] }
    | { readonly kind: "static" };
}

/** A tree that nothing can be started from; class `artifact_invalid`. */
export interface InvalidApp {
  readonly status: "invalid";
  readonly reason: string;
  /** First names at the top of the tree. */
  readonly topLevel: readonly string[];
}

/** Which files of a tree `planApp` wants to read. */
export function pathsToRead(paths: readonly string[]): readonly string[] {
  const wanted = new Set<string>(["package.json", ...LOCKFILES, ...SETTINGS]);
  return paths.filter((path) => {
    const parts = path.split("/");
    return parts.length <= 2 && wanted.has(parts.at(-1) ?? "");
  });
}

const inFolder = (folder: string, name: string): string => (folder === "." ? name : `${folder}/${name}`);

/** The root when it holds an app, else the one top-level folder with a package.json. */
function findFolder(paths: ReadonlySet<string>): string | null {
  if (paths.has("package.json") || paths.has("index.html")) return ".";
  const folders = [...paths].filter((path) => /^[^/]+\/package\.json$/.test(path)).map((path) => path.split("/")[0]);
  return folders.length === 1 ? (folders[0] ?? null) : null;
}

function parsePackage(text: string | undefined): PackageJson | null {
  if (text === undefined) return null;
  try {
    // Editors on Windows put a byte order mark in front; package managers take it off.
    return PackageJson.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return null;
  }
}

function hasScript(json: PackageJson, name: string): boolean {
  const script = json.scripts[name];
  return typeof script === "string" && script.trim() !== "";
}

function dependencySpecs(json: PackageJson): string[] {
  return DEPENDENCY_FIELDS.flatMap((field) =>
    Object.values(z.record(z.string(), z.unknown()).catch({}).parse(json[field])),
  )
    .filter((spec) => spec !== undefined)
    .map(String);
}

/** Package manager and arguments that go with a lockfile. */
function installCommand(lockfile: string | undefined, lockText: string): Pick<InstallPlan, "manager" | "args"> {
  if (lockfile === undefined) return { manager: "npm", args: ["install"] };
  if (lockfile === "pnpm-lock.yaml") return { manager: "pnpm", args: ["install", "--frozen-lockfile"] };
  if (lockfile !== "yarn.lock") return { manager: "npm", args: ["ci"] };
  // Yarn 2 and later write this key and know another option.
  const isModern = lockText.includes("__metadata:");
  return { manager: "yarn", args: ["install", isModern ? "--immutable" : "--frozen-lockfile"] };
}

function isShareable(json: PackageJson, names: (name: string) => boolean): boolean {
  const usesMore =
    json["workspaces"] !== undefined ||
    LIFECYCLE.some((name) => hasScript(json, name)) ||
    dependencySpecs(json).some((spec) => PATH_SPEC.test(spec)) ||
    JSON.stringify(json["pnpm"] ?? {}).includes("patchedDependencies");
  return (
    !usesMore && !["binding.gyp", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".yarnrc.yml"].some((name) => names(name))
  );
}

function planInstall(folder: string, json: PackageJson, files: PlanFiles): InstallPlan | null {
  const paths = new Set(files.paths);
  const has = (name: string): boolean => paths.has(inFolder(folder, name));
  const isNeeded =
    dependencySpecs(json).length > 0 ||
    json["workspaces"] !== undefined ||
    LIFECYCLE.some((name) => hasScript(json, name));
  if (!isNeeded) return null;
  const lockfile = LOCKFILES.find((name) => has(name));
  const inputs = new Map<string, string>();
  for (const name of ["package.json", ...(lockfile === undefined ? [] : [lockfile]), ...SETTINGS]) {
    const text = files.texts.get(inFolder(folder, name));
    if (text !== undefined) inputs.set(inFolder(folder, name), text);
  }
  const lockText = lockfile === undefined ? "" : (files.texts.get(inFolder(folder, lockfile)) ?? "");
  const { manager, args } = installCommand(lockfile, lockText);
  const settings = [...inputs].filter(([path]) => !path.endsWith("package.json"));
  const fields = INSTALL_FIELDS.map((field) => json[field] ?? null);
  const key = JSON.stringify([manager, args, folder, settings, fields]);
  const cacheKey = isShareable(json, has) ? createHash("sha256").update(key).digest("hex") : null;
  const needsPackages = dependencySpecs(json).length > 0 || json["workspaces"] !== undefined;
  return { manager, args, cacheKey, needsPackages, inputs };
}

function invalid(files: PlanFiles, reason: string): InvalidApp {
  const topLevel = [...new Set(files.paths.map((path) => path.split("/")[0] ?? ""))].slice(0, TOP_LEVEL_SHOWN);
  return { status: "invalid", reason, topLevel };
}

/** Decides how the app in a tree is installed, built and started; the rules are those of docs/serving.md. */
export function planApp(files: PlanFiles): AppPlan | InvalidApp {
  const paths = new Set(files.paths);
  if (paths.size === 0) return invalid(files, "The workspace is empty.");
  const folder = findFolder(paths);
  if (folder === null) return invalid(files, "There is no package.json and no index.html at the top.");
  const hasIndex = paths.has(inFolder(folder, "index.html"));
  const hasPackage = paths.has(inFolder(folder, "package.json"));
  if (!hasPackage) return { status: "planned", folder, install: null, build: null, start: { kind: "static" } };
  const json = parsePackage(files.texts.get(inFolder(folder, "package.json")));
  if (json === null) return invalid(files, "package.json is no file with a JSON object.");
  const common = { status: "planned", folder, install: planInstall(folder, json, files) } as const;
  if (hasScript(json, "dev")) return { ...common, build: null, start: { kind: "script", argv: ["npm", "run", "dev"] } };
  if (hasScript(json, "start")) {
    const build = hasScript(json, "build") ? (["npm", "run", "build"] as const) : null;
    return { ...common, build, start: { kind: "script", argv: ["npm", "run", "start"] } };
  }
  if (hasIndex) return { ...common, build: null, start: { kind: "static" } };
  return invalid(files, "package.json has neither a dev nor a start script, and there is no index.html beside it.");
}
