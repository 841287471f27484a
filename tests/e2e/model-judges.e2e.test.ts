import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPolicyServer } from "../policy-model/server.ts";
import { evoweb, parseScore, verdictsOf, type Finished } from "./evoweb.ts";

// The whole way through the real loop and browser with both judges. What answers is a policy server: rules, no model.
const RUN = [
  "--sandbox",
  "local",
  "--isolation",
  "request",
  "--judge-model",
  "policy",
  "--apps",
  "1",
  "--requests",
  "2",
];
const NOBODY = { EVOWEB_JUDGE_BASE_URL: "http://127.0.0.1:9/v1", EVOWEB_JUDGE_API_KEY: "" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-model-judges-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs with the policy server at hand; whatever the run asks of it goes into the cassette. */
async function recorded(judge: string): Promise<Finished> {
  await using server = await openPolicyServer();
  const environment = { EVOWEB_JUDGE_BASE_URL: server.baseUrl, EVOWEB_JUDGE_API_KEY: "sk-test-0123456789" };
  const args = ["run", ...RUN, "--judge", judge, "--cassette", join(folder, `${judge}.jsonl`), "--json"];
  return await evoweb([...args, "--out", join(folder, `${judge}-recorded`)], { env: environment });
}

test("--judge evidence judges through the policy server, and its cassette gives the same scores with no server", async () => {
  const first = await recorded("evidence");
  const verdicts = verdictsOf(join(folder, "evidence-recorded"));
  // What has to be right on the known-good solution for the rules to be worth anything.
  expect(verdicts).toEqual(expect.arrayContaining(["1.1.0 YES", "1.1.5 YES", "1.2.0 YES", "1.2.1 YES"]));
  const out = join(folder, "evidence-replayed");
  const tape = ["--cassette", join(folder, "evidence.jsonl"), "--cassette-mode", "replay"];
  const again = await evoweb(["run", ...RUN, "--judge", "evidence", ...tape, "--json", "--out", out], { env: NOBODY });
  expect(verdictsOf(out)).toEqual(verdicts);
  const [a, b] = [parseScore(first.stdout), parseScore(again.stdout)];
  expect(JSON.stringify([b.apps, b.run])).toBe(JSON.stringify([a.apps, a.run]));
});

test("--judge webvoyager judges through the policy server", async () => {
  const first = await recorded("webvoyager");
  expect(first.stderr).not.toContain("evoweb:");
  expect(verdictsOf(join(folder, "webvoyager-recorded"))).toEqual(expect.arrayContaining(["1.1.0 YES", "1.2.0 YES"]));
});
