import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SEQUENCES = 8;
const SAMPLE_MS = 250;
const root = fileURLToPath(new URL("../", import.meta.url));

/** A data set of eight copies of the first row of evoweb-mini, with its solutions and oracles. */
function writeCopies(dir: string): void {
  const built = join(root, "datasets/evoweb-mini");
  const [first = ""] = readFileSync(join(built, "rows.jsonl"), "utf8").split("\n");
  const ids = Array.from({ length: SEQUENCES }, (_, index) => String(900_001 + index));
  const row = JSON.parse(first) as Record<string, unknown>;
  cpSync(join(built, "oracles/000001"), join(dir, "oracles/000001"), { recursive: true });
  for (const id of ids) {
    cpSync(join(built, "solutions/000001"), join(dir, "solutions", id), { recursive: true });
    cpSync(join(built, "oracles/000001.js"), join(dir, "oracles", `${id}.js`));
  }
  writeFileSync(join(dir, "rows.jsonl"), ids.map((id) => `${JSON.stringify({ ...row, id })}\n`).join(""));
}

/** Parent and resident memory of every process, in kB. */
function processes(): Map<number, { readonly parent: number; readonly rssKb: number }> {
  const found = new Map<number, { readonly parent: number; readonly rssKb: number }>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/u.test(entry))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const field = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, "mu").exec(status)?.[1] ?? 0);
      found.set(Number(name), { parent: field("PPid"), rssKb: field("VmRSS") });
    } catch {
      // It has ended since.
    }
  }
  return found;
}

function treeMb(pid: number): number {
  const all = processes();
  const sum = (of: number): number => {
    const own = all.get(of)?.rssKb ?? 0;
    return [...all].filter(([, { parent }]) => parent === of).reduce((total, [child]) => total + sum(child), own);
  };
  return sum(pid) / 1024;
}

async function oneRun(dataset: string, out: string, concurrency: string): Promise<{ wallMs: number; peakMb: number }> {
  const options = ["--requests", "1", "--sandbox", "local", "--concurrency", concurrency, "--out", out, "--json"];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), "run", "--dataset", dataset, ...options], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peakMb = 0;
  const timer = setInterval(() => (peakMb = Math.max(peakMb, treeMb(child.pid ?? 0))), SAMPLE_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`the run at --concurrency ${concurrency} ended with ${String(code)}`);
  return { wallMs: performance.now() - startedAt, peakMb };
}

/** Eight replayed sequences at `--concurrency auto` against one at a time: wall times and the memory peak of all processes. */
export async function benchConcurrency(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-bench-concurrency-"));
  try {
    const dataset = join(folder, "copies");
    writeCopies(dataset);
    const auto = await oneRun(dataset, join(folder, "auto"), "auto");
    const one = await oneRun(dataset, join(folder, "one"), "1");
    const start = readFileSync(join(folder, "auto/events.jsonl"), "utf8").split("\n")[0] ?? "{}";
    const { options } = JSON.parse(start) as { options: { workers: number } };
    console.log(
      `  ${SEQUENCES} sequences: one at a time ${(one.wallMs / 1000).toFixed(1)} s, peak ${one.peakMb.toFixed(0)} MB; ` +
        `auto (${options.workers}) ${(auto.wallMs / 1000).toFixed(1)} s, peak ${auto.peakMb.toFixed(0)} MB; ` +
        `ratio ${(one.wallMs / auto.wallMs).toFixed(2)}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
