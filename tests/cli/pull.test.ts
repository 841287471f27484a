import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { startHub } from "../dataset/hub/hub-server.ts";
import { sampleRow } from "../dataset/sample-row.ts";
import { makeTempFolder } from "../temp-folder.ts";

// Every test starts processes; on a busy machine that takes seconds.
vi.setConfig({ testTimeout: 60_000 });

test("pull obeys HF_ENDPOINT, HF_HOME and HF_TOKEN and prints one document; offline, show needs no hub", async () => {
  const commit = "c0ffee".padEnd(40, "0");
  const hub = await startHub({ name: "a/b", commit, files: { "test.jsonl": JSON.stringify(sampleRow("x")) } });
  const home = await makeTempFolder();
  const { HF_HUB_CACHE: _, HUGGINGFACE_HUB_CACHE: __, ...inherited } = process.env;
  const env = { ...inherited, HF_ENDPOINT: `${hub.url}/`, HF_HOME: home, HF_TOKEN: "hf_madeUpTokenOfATest" };
  const evoweb = async (args: readonly string[], more: Readonly<Record<string, string>>): Promise<unknown> => {
    const argv = ["--import", "tsx", path.resolve("src/cli/main.ts"), "dataset", ...args, "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { ...env, ...more } });
    return JSON.parse(stdout) as unknown;
  };
  const dir = path.join(home, "hub/datasets--a--b/snapshots", commit);
  expect(await evoweb(["pull", "a/b"], { HF_HUB_OFFLINE: "0" })).toMatchObject({ repo: "a/b", commit, dir });
  expect(new Set(hub.authorizations)).toEqual(new Set(["Bearer hf_madeUpTokenOfATest"]));
  await hub.close();
  const shown = await evoweb(["show", "a/b"], { HF_HUB_OFFLINE: "1" });
  expect(shown).toMatchObject({ revision: commit, config: "default", split: "test" });
});
