import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cleanLocalLeftovers } from "../../src/runner/local-leftovers.ts";
import { openLocalSandbox } from "../../src/runner/local-sandbox.ts";
import { describeSandboxContract } from "./sandbox-contract.ts";

vi.setConfig({ testTimeout: 60_000 });

const limits = { memoryBytes: 1e9, cpus: 1, pids: 100 };

describeSandboxContract("local", () => openLocalSandbox({ runId: "contract" }));

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "evoweb-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test("disposal removes every file and process, also of places left open", async () => {
  await using folder = await temporaryFolder();
  const sandbox = await openLocalSandbox({ runId: "r", tmpDir: folder.path });
  const place = await sandbox.open({ label: "left open", limits });
  const started = await place.start({ argv: ["sleep", "98780"] });
  expect(await readdir(folder.path)).toHaveLength(1);
  await sandbox[Symbol.asyncDispose]();
  expect(await started.ended).toMatchObject({ signal: "SIGKILL" });
  expect(await readdir(folder.path)).toEqual([]);
});

test("the environment given to the sandbox reaches its commands, and its markers cannot be taken off by a command", async () => {
  await using sandbox = await openLocalSandbox({ runId: "r", env: { NODE_EXTRA_CA_CERTS: "/some/ca.pem" } });
  await using place = await sandbox.open({ label: "env", limits });
  const { stdout } = await place.exec({
    argv: ["env"],
    env: { EVOWEB_PLACE: "forged", EVOWEB_COMMAND: "forged" },
    timeoutMs: 5000,
  });
  const names = stdout.text.split("\n").map((line) => line.split("=")[0] ?? "");
  expect(stdout.text).toContain("NODE_EXTRA_CA_CERTS=/some/ca.pem\n");
  expect(stdout.text).not.toContain("forged");
  expect(new Set(names)).toEqual(
    new Set(["", "EVOWEB_COMMAND", "EVOWEB_PLACE", "HOME", "LANG", "NODE_EXTRA_CA_CERTS", "PATH", "PWD", "TMPDIR"]).add(
      "npm_config_cache",
    ),
  );
});

test("a process with an emptied environment in a session of its own is still found", async () => {
  await using sandbox = await openLocalSandbox({ runId: "r" });
  await using place = await sandbox.open({ label: "escape", limits });
  const escape = "env -i setsid sh -c 'env -i setsid sleep 98781 & sleep 0.2' & sleep 0.1";
  await place.exec({ argv: ["sh", "-c", escape], timeoutMs: 5000 });
  await expect.poll(async () => (await place.endProcesses(0)).join()).toContain("sleep 98781");
});

test("leftovers of a dead owner are removed with their processes, those of the living are kept", async () => {
  await using folder = await temporaryFolder();
  await using alive = await openLocalSandbox({ runId: "alive", tmpDir: folder.path });
  const module = new URL("../../src/runner/local-sandbox.ts", import.meta.url).href;
  const program = `
    const { openLocalSandbox } = await import(${JSON.stringify(module)});
    const sandbox = await openLocalSandbox({ runId: "dead", tmpDir: ${JSON.stringify(folder.path)} });
    const place = await sandbox.open({ label: "x", limits: ${JSON.stringify(limits)} });
    await place.start({ argv: ["sh", "-c", "(setsid sleep 98782 &) ; sleep 98783"] });
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  try {
    await once(child.stdout, "data");
    expect(await cleanLocalLeftovers(folder.path)).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
  const removed = await cleanLocalLeftovers(folder.path);
  expect(removed).toMatchObject([{ runId: "dead" }]);
  expect(removed[0]?.processes.join()).toMatch(/sleep 9878[23].*sleep 9878[23]/);
  expect(await readdir(folder.path)).toHaveLength(1);
  expect((await alive.describe()).notes.join(" ")).toContain("No isolation");
});
