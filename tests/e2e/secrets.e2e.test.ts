import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evoweb, ROOT, start } from "./evoweb.ts";

// Put together here, so that no file of the project holds the whole of it.
const CANARY = ["CANARY", "SECRET"].join("");
const secret = `sk-${CANARY}-0123456789abcdef`;

test("no key of the environment reaches an app, and one that an agent prints is masked in everything that is written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "evoweb-secrets-"));
  const row = {
    id: "000001",
    instruction: "Show how many secrets you see",
    ui_instruct: [{ task: "Open it", expected_result: "0 secrets seen", task_category: {} }],
  };
  await writeFile(join(folder, "rows.jsonl"), `${JSON.stringify(row)}\n`);
  const app = join(ROOT, "tests/fixtures/serve/secrets");
  const command = `cp -r ${app}/. . && echo "key ${secret}" && printf %s "user:${secret}" | base64`;
  const args = ["run", "--dataset", "rows.jsonl", "--agent", "command", "--command", command, "--judge", "none"];
  const env = { OPENAI_API_KEY: secret, HF_TOKEN: secret, MY_PASSWORD: secret };
  const run = await evoweb([...args, "--sandbox", "local", "--out", "r"], { cwd: folder, env });
  // Nothing is judged, so the run is finished but incomplete.
  expect(run.code).toBe(3);
  expect(await readFile(join(folder, "r/app-0001/request-01/app.log"), "utf8")).toContain("environment:");
  expect(await readFile(join(folder, "r/app-0001/request-01/agent.log"), "utf8")).toContain("key [masked]");
  const found = await start(["grep", "-r", "-l", CANARY, "r"], { cwd: folder }).finished;
  expect(found.stdout).toBe("");
  const encoded = Buffer.from(`user:${secret}`).toString("base64").slice(8, 40);
  expect((await start(["grep", "-r", "-l", encoded, "r"], { cwd: folder }).finished).stdout).toBe("");
  expect(`${run.stdout}${run.stderr}`).not.toContain(CANARY);
  await rm(folder, { recursive: true });
});
