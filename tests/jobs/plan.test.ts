import { join } from "node:path";
import { expect, it } from "vitest";
import { planComparison } from "../../src/jobs/plan.ts";
import { five, writeRun } from "../report/run-fixture.ts";
import { tinyRows } from "../trace/sample-events.ts";
import { temporaryFolder } from "../trace/temporary-folder.ts";

it("plans from one run, says what it assumes, and refuses what it cannot learn from", async () => {
  using folder = temporaryFolder();
  const good = [five("YES"), five("YES")];
  const bad = [five("NO"), five("NO")];
  const dir = writeRun(join(folder.path, "a"), tinyRows(4, 2), [good, bad, good, bad]);
  const plan = await planComparison([dir], { metric: "survival", difference: 2, power: 0.8 });
  // Survival is 2, 0, 2, 0: a deviation of 1, and of 2/√3 with one degree of freedom lost.
  expect(plan.noiseDeviation).toBeCloseTo(2 / Math.sqrt(3), 12);
  expect(plan.basis).toEqual({ apps: 4, repeats: 1, complete: true });
  expect(plan.assumptions[0]).toMatch(/^There are no repeats/);
  const apps = plan.designs.map((design) => design.apps ?? Infinity);
  expect(apps).toEqual(apps.toSorted((a, b) => b - a));
  // No exchange among four apps is as rare as once in twenty.
  expect(plan.designs.map(({ powerOfBasis }) => powerOfBasis)).toEqual([0, 0, 0, 0]);
  const one = writeRun(join(folder.path, "b"), tinyRows(1, 2), [good]);
  await expect(planComparison([one], { metric: "grade", difference: 1, power: 0.8 })).rejects.toThrow(/shows no noise/);
  await expect(planComparison([dir, one], { metric: "grade", difference: 1, power: 0.8 })).rejects.toThrow(
    /one run or the repeats of one/,
  );
});
