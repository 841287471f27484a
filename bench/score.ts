import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { scoreDocuments, scorePaths } from "../src/index.ts";
import { generateRuns } from "./generate-runs.ts";
import { median } from "./median.ts";

const CHECKS = 100_000;
const APPS_EACH = 32;
const ROUNDS = 7;
const GOAL = 1.5;

/** Wall and processor time of one round; the latter says more on a busy machine. */
type Times = readonly [wallMs: number, cpuMs: number];

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The files scoring reads, all of them. */
function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The least anybody can do with these bytes: read them, split them into lines, parse each line. */
function parseFiles(files: readonly string[]): number {
  let records = 0;
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    const documents = file.endsWith(".json") ? [text] : text.split("\n");
    for (const document of documents) {
      if (document === "") continue;
      const value: unknown = JSON.parse(document);
      if (value !== null) records += 1;
    }
  }
  return records;
}

/** The built code, which is what people run; the transpiler that benchmarks run under adds work to every function it names. */
async function importBuilt(): Promise<{ scorePaths: typeof scorePaths; scoreDocuments: typeof scoreDocuments }> {
  const built = spawnSync(process.execPath, [fileURLToPath(new URL("../scripts/build.mjs", import.meta.url))], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (built.status !== 0) throw new Error("npm run build failed");
  return (await import(new URL("../dist/index.js", import.meta.url).href)) as Awaited<ReturnType<typeof importBuilt>>;
}

async function scoreAll(dirs: readonly string[], evoweb: Awaited<ReturnType<typeof importBuilt>>): Promise<number> {
  const sources = await evoweb.scorePaths(dirs);
  JSON.stringify(evoweb.scoreDocuments(sources));
  return sources.reduce((checks, { score }) => checks + score.run.side.counts.planned, 0);
}

/** `evoweb score` on 100,000 checks against plain reading and JSON.parse of the same bytes. */
export async function benchScore(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "evoweb-bench-score-"));
  try {
    const evoweb = await importBuilt();
    const dirs = generateRuns(root, CHECKS, APPS_EACH);
    const files = dirs.flatMap(filesOf);
    const megabytes = files.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1e6;
    const parseMs: Times[] = [];
    const scoreMs: Times[] = [];
    let checks = 0;
    // One round more than is counted, to warm up both sides; then in turns, so that both meet the same machine.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const start = performance.now();
      const startCpu = cpuMs();
      parseFiles(files);
      const middle = performance.now();
      const middleCpu = cpuMs();
      checks = await scoreAll(dirs, evoweb);
      if (round === 0) continue;
      parseMs.push([middle - start, middleCpu - startCpu]);
      scoreMs.push([performance.now() - middle, cpuMs() - middleCpu]);
    }
    console.log(
      `  ${checks} checks in ${dirs.length} run folders, ${files.length} files, ${megabytes.toFixed(1)} MB; median of ${ROUNDS}`,
    );
    for (const [index, name] of ["wall", "cpu"].entries()) {
      const [parse, score] = [parseMs, scoreMs].map((times) => median(times.map((time) => time[index] ?? 0)));
      const ratio = (score ?? 0) / (parse ?? 1);
      console.log(
        `  ${name.padEnd(4)}  read and JSON.parse ${parse?.toFixed(0)} ms, evoweb score ${score?.toFixed(0)} ms, ratio ${ratio.toFixed(2)}`,
      );
    }
    console.log(`  goal: a ratio of at most ${GOAL}`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
