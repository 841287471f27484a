// Proves the ground truth of datasets/evoweb-mini, or the part that the options name; exit code 1 when something does not hold.
//   npm run test:truth -- [--app 000001] [--part solution] [--mutant ID] [--request 3] [--check 2] [--measure] [--at-a-time 3]
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { TreeJudge } from "./judge-tree.ts";
import { describeOutcome, listAll, neverFailing, prove, type Outcome } from "./truth.ts";

const { values } = parseArgs({
  options: {
    app: { type: "string" },
    part: { type: "string" },
    mutant: { type: "string" },
    request: { type: "string" },
    check: { type: "string" },
    measure: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    "at-a-time": { type: "string", default: "3" },
  },
});

const { rows, statements } = await listAll();
const wanted = statements.filter(
  (one) =>
    (values.app === undefined || one.rowId === values.app) &&
    (values.part === undefined || values.part.split(",").includes(one.part)) &&
    (values.mutant === undefined || one.spec === values.mutant) &&
    (values.request === undefined || one.request === Number(values.request)) &&
    (values.check === undefined || one.check === Number(values.check)),
);
const executable = process.env["EVOWEB_CHROMIUM"] ?? "/usr/bin/chromium-headless-shell";
if (!existsSync(executable)) throw new Error(`no browser at ${executable}: set EVOWEB_CHROMIUM`);

const startedAt = performance.now();
await using judge = await TreeJudge.open(executable, Number(values["at-a-time"]));
let failed = 0;
const outcomes = await Promise.all(
  wanted.map(async (statement) => {
    const outcome = await prove(judge, statement);
    if (!outcome.holds) failed += 1;
    if (!outcome.holds || values.verbose) print(outcome);
    return outcome;
  }),
);
if (values.measure) printChanges(outcomes);
printSlowest(outcomes);
const seconds = (performance.now() - startedAt) / 1000;
console.log(
  `${String(outcomes.length - failed)} of ${String(outcomes.length)} statements hold, ${String(judge.decided)} checks decided in ${seconds.toFixed(0)} s`,
);
const isWhole = [values.app, values.part, values.mutant, values.request, values.check]
  .slice(1)
  .every((one) => one === undefined);
for (const row of isWhole ? rows.filter((one) => values.app === undefined || one.id === values.app) : []) {
  const idle = neverFailing(row, outcomes);
  if (idle.length === 0) continue;
  failed += 1;
  console.log(`no mutant or earlier snapshot fails ${idle.join(", ")}`);
}
process.exitCode = failed === 0 ? 0 : 1;

function print(outcome: Outcome): void {
  const { ruling, holds } = outcome;
  console.log(`${holds ? "ok  " : "FAIL"} ${describeOutcome(outcome)} (${ruling.oracleMs.toFixed(0)} ms)`);
  if (holds && ruling.verdict === "YES") return;
  for (const { point, met, saw } of ruling.points)
    console.log(`       ${met ? "+" : "-"} ${point}${met ? "" : ` | ${saw.slice(0, 300)}`}`);
}

function printChanges(all: readonly Outcome[]): void {
  const ofMutants = all.filter((one) => one.part === "mutants");
  for (const id of new Set(ofMutants.map((one) => one.spec))) {
    const changes = ofMutants
      .filter((one) => one.spec === id && one.ruling.verdict !== "YES")
      .map(({ request, check, ruling }) => ({ request, check, verdict: ruling.verdict }));
    console.log(`${id} ${JSON.stringify(changes)}`);
  }
}

function printSlowest(all: readonly Outcome[]): void {
  const sorted = [...all].sort((a, b) => b.ruling.oracleMs - a.ruling.oracleMs);
  const right = sorted.filter((one) => one.ruling.verdict === "YES");
  const median = right[Math.floor(right.length / 2)]?.ruling.oracleMs ?? 0;
  const slowest = (list: readonly Outcome[]): string =>
    list
      .slice(0, 3)
      .map(
        (one) =>
          `${String(one.request)}.${String(one.check)} ${one.ruling.oracleMs.toFixed(0)} ms (${one.spec} at ${one.snapshot})`,
      )
      .join(", ");
  console.log(`YES: median ${median.toFixed(0)} ms, slowest ${slowest(right)}; all: slowest ${slowest(sorted)}`);
}
