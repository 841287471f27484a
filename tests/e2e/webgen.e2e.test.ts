import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evoweb, parseScore, ROOT } from "./evoweb.ts";

// A public test set that lies beside the checkout where it is to be had; it is no part of the project.
const rows = join(ROOT, "../shared/data/webgen-bench/test.jsonl");

test.skipIf(!existsSync(rows))("a row of WebGen-Bench runs as a sequence of length 1", async () => {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-webgen-"));
  const args = ["run", "--dataset", rows, "--agent", "noop", "--apps", "1", "--sandbox", "local", "--json"];
  const { code, stdout } = await evoweb([...args, "--out", join(folder, "r")], { cwd: folder });
  expect(code).toBe(0);
  const { apps, run } = parseScore(stdout);
  expect(apps[0]?.primary).toMatchObject({ grade: 0, survival: 0, apr: [0, 0] });
  expect(run.complete).toBe(true);
  await rm(folder, { recursive: true });
});
