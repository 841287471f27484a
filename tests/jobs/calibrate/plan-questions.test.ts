import { expect, it } from "vitest";
import { openDataset } from "../../../src/dataset/open-dataset.ts";
import { planQuestions } from "../../../src/jobs/calibrate/plan-questions.ts";

const { apps, truth } = await openDataset("evoweb-mini");
const choice = { apps, mutants: truth?.mutants ?? [], requests: null };
const count = (list: readonly { truth: string }[], ...truths: readonly string[]): number =>
  list.filter((one) => truths.includes(one.truth)).length;

it("asks every check of the solution, which is YES, and what each mutant changes, which is not", () => {
  const all = planQuestions(choice);
  const changes = choice.mutants.flatMap((mutant) => mutant.changes);
  const checks = apps.flatMap(({ row }) => row.requests.flatMap((request) => request.checks));
  expect(count(all, "YES")).toBe(checks.length);
  expect(count(all, "PARTIAL", "NO")).toBe(changes.length);
  expect(planQuestions({ ...choice, mutantIds: [] })).toHaveLength(checks.length);
  expect(new Set(planQuestions({ ...choice, requests: new Set([3]) }).map(({ request }) => request))).toEqual(
    new Set([3]),
  );
});

it("draws the same sample each time, half of it failures", () => {
  const drawn = planQuestions({ ...choice, checks: 20 });
  expect(drawn).toHaveLength(20);
  expect(count(drawn, "YES")).toBe(10);
  expect(planQuestions({ ...choice, checks: 20 })).toEqual(drawn);
  const few = planQuestions({ ...choice, mutantIds: ["000001-cents-dropped"], checks: 20 });
  expect([few.length, count(few, "PARTIAL", "NO")]).toEqual([20, 2]);
});

it("refuses a mutant that the apps do not have", () => {
  expect(() => planQuestions({ ...choice, apps: apps.slice(0, 1), mutantIds: ["000002-white-page"] })).toThrow(
    "000002-white-page",
  );
});
