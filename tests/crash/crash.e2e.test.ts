import { expect, test } from "vitest";
import { seededDraw } from "../../src/scoring/statistics/random.ts";
import { killAndResume, runWhole } from "./kill.ts";
import { openStage, openStages, openWritingModel, type Subject } from "./subject.ts";

const KILLS = 5;

test("a run of builtin killed five times at moments drawn by lot ends as an undisturbed one, and leaves nothing", async () => {
  await using stages = await openStages();
  await using model = await openWritingModel();
  const { dataSet } = stages;
  const subject: Subject = { name: "builtin", sandbox: "local", agent: "builtin", modelUrl: model.url, dataSet };
  await using whole = await openStage(stages.dir);
  const undisturbed = await runWhole(subject, whole);
  expect(undisturbed.outcome.notYes).toHaveLength(2);
  const draw = seededDraw(5);
  const random = (): number => draw(1000) / 1000;
  let kills = 0;
  while (kills < KILLS) {
    await using stage = await openStage(stages.dir);
    const figures = await killAndResume(subject, stage, { undisturbed, most: KILLS - kills, random });
    expect(figures).toMatchObject({ lost: [], doubled: [], leftovers: [], differences: [] });
    kills += figures.kills;
  }
});
