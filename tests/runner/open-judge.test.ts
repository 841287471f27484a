import { expect, test } from "vitest";
import { openDataset } from "../../src/dataset/open-dataset.ts";
import { openJudge } from "../../src/runner/open-judge.ts";
import { RunOptions } from "../../src/runner/options.ts";
import { scriptedModel } from "../judge/webvoyager/scripted-model.ts";

test("the published protocol needs a model; its verdict rule tells two judges apart", async () => {
  const dataset = await openDataset("evoweb-mini", { apps: "1" });
  const options = (verdictRule?: "legacy"): RunOptions => RunOptions.parse({ judge: "webvoyager", verdictRule });
  await expect(openJudge(options(), dataset)).rejects.toThrow(/needs a model/);
  const strict = await openJudge(options(), dataset, scriptedModel([]));
  const legacy = await openJudge(options("legacy"), dataset, scriptedModel([]));
  expect(strict).toMatchObject({ name: "webvoyager", viewport: { width: 1024, height: 768 }, timeoutMs: 600_000 });
  expect(legacy?.hash).not.toBe(strict?.hash);
});
