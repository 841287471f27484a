import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claimSweep, readSweep, sweepCells, type SweepJson } from "../../src/jobs/sweep-plan.ts";
import { lockRunFolder } from "../../src/runner/run-lock.ts";

const product = { agents: ["replay:forgetful", "pi"], models: ["m/1", "m2"], splits: ["test", "fr"], repeats: 2 };

test("a sweep's runs are named by agent, model, split and repeat; an agent that asks no model runs once", () => {
  expect(sweepCells(product).map(({ name }) => name)).toEqual([
    "replay_forgetful-test-1",
    "replay_forgetful-fr-1",
    "pi-m_1-test-1",
    "pi-m_1-fr-1",
    "pi-m2-test-1",
    "pi-m2-fr-1",
    "replay_forgetful-test-2",
    "replay_forgetful-fr-2",
    "pi-m_1-test-2",
    "pi-m_1-fr-2",
    "pi-m2-test-2",
    "pi-m2-fr-2",
  ]);
});

test("two runs of one name are refused", () => {
  expect(() => sweepCells({ ...product, splits: ["fr", "fr"] })).toThrow("name each agent, model and split once");
});

test("a folder keeps its sweep: another product, option or content is named, options about speed may differ", () => {
  const dir = mkdtempSync(join(tmpdir(), "evoweb-sweep-plan-"));
  try {
    const sweep: SweepJson = {
      schemaVersion: 1,
      product,
      options: { workers: 2, requests: 3 },
      contentHashes: { test: "a", fr: "b" },
    };
    claimSweep(dir, sweep, ["workers"]);
    expect(readSweep(dir)).toEqual(sweep);
    claimSweep(dir, { ...sweep, options: { workers: 8, requests: 3 } }, ["workers"]);
    expect(() => claimSweep(dir, { ...sweep, options: { workers: 2 } }, ["workers"])).toThrow(
      "options.requests is 3 there and null now",
    );
    expect(() => claimSweep(dir, { ...sweep, contentHashes: { test: "a", fr: "c" } }, [])).toThrow(
      'content hash of split.fr is "b" there and "c" now',
    );
    using _ = lockRunFolder(dir);
    expect(() => lockRunFolder(dir)).toThrow(`is being written by process ${process.pid}`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
