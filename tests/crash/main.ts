// Kills `evoweb run` at random moments and goes on with it; exit code 1 when anything is lost, doubled, left behind or different.
//   npm run test:crash -- [--seed 1] [--local 45] [--docker 15] [--at-a-time 2] [--faults disk,browser,model]
import { parseArgs } from "node:util";
import { seededDraw } from "../../src/scoring/statistics/random.ts";
import { killAndResume, runWhole, type Figures, type Undisturbed } from "./kill.ts";
import { FAULTS } from "./faults.ts";
import { openStage, openStages, openWritingModel, type Subject } from "./subject.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    local: { type: "string", default: "45" },
    docker: { type: "string", default: "15" },
    "at-a-time": { type: "string", default: "2" },
    faults: { type: "string", default: "" },
  },
});
const RESOLUTION = 1_000_000;
const MOST_OF_A_SEQUENCE = 6;
const draw = seededDraw(Number(values.seed));
const random = (): number => draw(RESOLUTION) / RESOLUTION;
console.log(`seed ${values.seed}`);

await using stages = await openStages();
const { dataSet } = stages;
const replay: Subject = { name: "local replay", sandbox: "local", agent: "replay", modelUrl: null, dataSet };
await using first = await openStage(stages.dir);
const wholeReplay = await runWhole(replay, first);
await using model = await openWritingModel();
const builtin: Subject = { name: "local builtin", sandbox: "local", agent: "builtin", modelUrl: model.url, dataSet };
let failed = 0;

if (Number(values.local) > 0) await killMany([replay, builtin], Number(values.local));
if (Number(values.docker) > 0)
  await killMany([{ ...builtin, name: "docker builtin", sandbox: "docker" }], Number(values.docker));
for (const name of values.faults.split(",").filter(Boolean)) await suffer(name);
process.exitCode = failed === 0 ? 0 : 1;

/** Kills sequences of the subjects in turn until there were enough kills. */
async function killMany(subjects: readonly Subject[], kills: number): Promise<void> {
  const wholes = new Map<Subject, Undisturbed>();
  for (const subject of subjects) {
    await using stage = await openStage(stages.dir);
    const whole = subject === replay ? wholeReplay : await runWhole(subject, stage);
    wholes.set(subject, whole);
    console.log(
      `${subject.name}: undisturbed in ${(whole.durationMs / 1000).toFixed(1)} s, usage ${whole.outcome.usage}`,
    );
    if (whole.outcome.score !== wholeReplay.outcome.score) report(subject.name, ["score differs from the replay's"]);
  }
  const all: Figures[] = [];
  let [left, turn] = [kills, 0];
  const stream = async (): Promise<void> => {
    while (left > 0) {
      const most = Math.min(left, MOST_OF_A_SEQUENCE);
      left -= most;
      const [subject, undisturbed] = [...wholes][turn++ % wholes.size] ?? [];
      if (subject === undefined || undisturbed === undefined) throw new RangeError("a sequence without a subject");
      await using stage = await openStage(stages.dir);
      const figures = await killAndResume(subject, stage, { undisturbed, most, random });
      left += most - figures.kills;
      all.push(figures);
      console.log(`${subject.name}: killed at ${figures.phases.join(", ")}`);
      report(subject.name, [...figures.lost, ...figures.doubled, ...figures.leftovers, ...figures.differences]);
    }
  };
  await Promise.all(Array.from({ length: Number(values["at-a-time"]) }, stream));
  const count = (of: (one: Figures) => number): number => all.reduce((sum, one) => sum + of(one), 0);
  console.log(
    `${subjects.map(({ name }) => name).join(" and ")}: sequences ${all.length}, kills ${count((one) => one.kills)}, ` +
      `resumes ${count((one) => one.resumes)}, lost ${count((one) => one.lost.length)}, ` +
      `doubled ${count((one) => one.doubled.length)}, leftovers ${count((one) => one.leftovers.length)}, ` +
      `differences ${count((one) => one.differences.length)}`,
  );
}

async function suffer(name: string): Promise<void> {
  const fault = FAULTS[name];
  if (fault === undefined) throw new RangeError(`no fault ${name}; known: ${Object.keys(FAULTS).join(", ")}`);
  await using stage = await openStage(stages.dir);
  const { happened, wrong } = await fault({ stage, subject: replay, whole: wholeReplay });
  console.log(`${name}: ${happened}; ${wrong.length === 0 ? "scores equal, nothing left" : "NOT as it should be"}`);
  report(name, wrong);
}

function report(name: string, wrong: readonly string[]): void {
  failed += wrong.length;
  for (const one of wrong) console.log(`FAIL ${name}: ${one}`);
}
