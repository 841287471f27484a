import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { readTrace } from "../src/trace/reader.ts";
import { median } from "./median.ts";

const ROUNDS = 5;
const GOAL = 1.25;
const REQUESTS = 3;
const root = fileURLToPath(new URL("../", import.meta.url));

interface Round {
  readonly wallMs: number;
  /** App starts (spawn to first accepted probe), all of them added up. */
  readonly startMs: number;
  /** Time inside browser calls, all checks added up. */
  readonly browserMs: number;
}

async function oneRun(out: string, sandbox: string): Promise<Round> {
  const args = ["run", "--sandbox", sandbox, "--requests", String(REQUESTS), "--out", out, "--json"];
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, [join(root, "dist/cli/main.js"), ...args], { maxBuffer: 2 ** 26 });
  const wallMs = performance.now() - startedAt;
  const events = [1, 2].flatMap((app) => readTrace(join(out, `app-000${app}`, "trace.jsonl"), app).events);
  const finished = events.filter((event) => event.type === "request_finished");
  const sum = (field: "startMs" | "browserMs"): number =>
    finished.reduce((total, event) => total + (event[field] ?? 0), 0);
  return { wallMs, startMs: sum("startMs"), browserMs: sum("browserMs") };
}

/** Wall time of a whole `evoweb run` (process start, installs, snapshots, scores) against app starts and browser time in it. */
export async function benchRun(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, "scripts/build.mjs"), "--if-stale"]);
  const folder = await mkdtemp(join(tmpdir(), "evoweb-bench-run-"));
  try {
    for (const sandbox of ["local", "docker"]) {
      const rounds: Round[] = [];
      for (let round = 1; round <= ROUNDS; round += 1)
        rounds.push(await oneRun(join(folder, `${sandbox}-${round}`), sandbox));
      report(sandbox, rounds);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function report(sandbox: string, rounds: readonly Round[]): void {
  const of = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const ratio = of(({ wallMs, startMs, browserMs }) => wallMs / (startMs + browserMs));
  console.log(
    `  ${sandbox.padEnd(6)} wall ${seconds(of(({ wallMs }) => wallMs))}; app starts ${seconds(of(({ startMs }) => startMs))}` +
      ` + browser calls ${seconds(of(({ browserMs }) => browserMs))}; ratio ${ratio.toFixed(2)}` +
      ` (goal <= ${GOAL}; median of ${ROUNDS}; 2 apps, ${REQUESTS} requests each, 2 checks at once)`,
  );
}
