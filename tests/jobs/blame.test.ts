import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { blame } from "../../src/jobs/blame.ts";
import { makeTempFolder } from "../temp-folder.ts";

const golden = fileURLToPath(new URL("../../traces/forgetful", import.meta.url));

async function blameCheck(sampleIndex: number, request: number, check: number) {
  const run = join(await makeTempFolder(), "run");
  cpSync(golden, run, { recursive: true });
  const environment = { secrets: [] };
  const said: string[] = [];
  const { signal } = new AbortController();
  const blamed = await blame({
    run,
    sampleIndex,
    request,
    check,
    given: {},
    environment,
    say: (line) => said.push(line),
    signal,
  });
  // Nothing was looked at, and a run without snapshots got none.
  expect(said).toEqual([]);
  expect(existsSync(join(run, "app-0001", "workspace.git"))).toBe(false);
  return blamed;
}

test("what observations say by themselves needs no look: a copy stands for its check, and a root is told from what is inherited", async () => {
  expect(await blameCheck(2, 4, 4)).toMatchObject({
    check: "3.0",
    status: "regression",
    suspects: [4, 4],
    verdict: "NO",
    ground: "root",
    seen: [
      { snapshot: 3, verdict: "YES" },
      { snapshot: 4, verdict: "NO" },
    ],
  });
  expect(await blameCheck(2, 8, 1)).toMatchObject({
    status: "from_start",
    suspects: [8, 8],
    ground: "inherited",
    brokenParents: [3],
  });
  expect(await blameCheck(2, 1, 0)).toMatchObject({ status: "sound", suspects: null, ground: null });
});

test("an app or a check that the run does not have is a usage fault", async () => {
  await expect(blameCheck(9, 1, 0)).rejects.toThrow("has no app 9");
  await expect(blameCheck(1, 1, 17)).rejects.toThrow("no check 1.17");
});
