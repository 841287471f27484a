// Compiles src/ to dist/, copies prompts, page scripts and styles there, and compiles the oracles to .js beside their sources. With
// --if-stale it does so only when a source is newer.
// The launcher runs what this builds: the same code that is published, and oracles whose functions a page can evaluate
// (a transpiler that keeps function names puts a helper into them that no page knows).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = join(root, "dist/.built");

function newestSource(dir) {
  let newest = 0;
  for (const entry of readdirSync(join(root, dir), { recursive: true, withFileTypes: true })) {
    if (!/\.(tsx?|js|json|md|css)$/.test(entry.name)) continue;
    newest = Math.max(newest, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs);
  }
  return newest;
}

function isFresh() {
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return Math.max(newestSource("src"), ...oracleFolders().map(newestSource)) < built;
}

function oracleFolders() {
  return readdirSync(join(root, "datasets"))
    .map((name) => `datasets/${name}/oracles`)
    .filter((dir) => existsSync(join(root, dir)));
}

function copyTexts() {
  for (const folder of ["judge", "report"]) {
    for (const name of readdirSync(join(root, "src", folder), { recursive: true })) {
      if (/\.(md|js|css)$/.test(name)) cpSync(join(root, "src", folder, name), join(root, "dist", folder, name));
    }
  }
}

function compile(project) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, project)], { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}

if (!process.argv.includes("--if-stale") || !isFresh()) {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  for (const dir of oracleFolders()) {
    // A file that was renamed or removed must not live on as its compiled form.
    for (const name of readdirSync(join(root, dir), { recursive: true })) {
      if (name.endsWith(".js")) rmSync(join(root, dir, name));
    }
  }
  compile("tsconfig.build.json");
  copyTexts();
  compile("datasets/tsconfig.build.json");
  writeFileSync(stamp, "");
}
