import { cpus, totalmem } from "node:os";
import { benchBrowser } from "./browser.ts";
import { benchConcurrency } from "./concurrency.ts";
import { benchRun } from "./run.ts";
import { benchScore } from "./score.ts";

/** One line a benchmark; each prints both sides of a ratio measured in one run. */
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  browser: benchBrowser,
  score: benchScore,
  run: benchRun,
  concurrency: benchConcurrency,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`no benchmark called ${unknown.join(", ")}. Known: ${Object.keys(BENCHES).join(", ")}`);
  process.exit(2);
}
const memoryGb = (totalmem() / 1e9).toFixed(1);
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, ${memoryGb} GB`);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`\n${name}`);
  await bench();
}
