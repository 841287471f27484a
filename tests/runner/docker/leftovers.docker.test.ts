import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, expect, test } from "vitest";
import { cleanDockerLeftovers } from "../../../src/runner/docker/leftovers.ts";
import { ensureImage } from "../../../src/runner/docker/images.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

const docker = new Docker();
const runId = `dead-${process.pid}`;

async function ofRun(run: string): Promise<{ containers: string[]; volumes: string[] }> {
  const filters = { label: [`evoweb.run=${run}`] };
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes: volumes } = await docker.listVolumes({ filters });
  return { containers: containers.map(({ Id }) => Id), volumes: volumes.map(({ Name }) => Name) };
}

/** Socket folders of a process. */
async function foldersOf(pid: number | undefined): Promise<string[]> {
  const owned: string[] = [];
  for (const name of (await readdir(tmpdir())).filter((entry) => entry.startsWith("evw-"))) {
    // Folders of other tests may vanish meanwhile.
    const text = await readFile(join(tmpdir(), name, "owner.json"), "utf8").catch(() => "{}");
    if ((JSON.parse(text) as { pid?: number }).pid === pid) owned.push(name);
  }
  return owned;
}

/** A harness in a process of its own, with a workspace and a copy of it, each with a program that runs. */
async function startHarness(): Promise<ChildProcess> {
  const image = await ensureImage();
  const module = new URL("../../../src/runner/docker/docker-sandbox.ts", import.meta.url).href;
  const program = `
    const { openDockerSandbox } = await import(${JSON.stringify(module)});
    const sandbox = await openDockerSandbox({ runId: "${runId}", image: "${image.tag}" });
    const below = await sandbox.open({ label: "below", limits: ${JSON.stringify(limits)} });
    const top = await sandbox.open({ label: "top", limits: ${JSON.stringify(limits)}, below: [below] });
    await top.start({ argv: ["/bin/bash", "-c", "trap '' TERM HUP; sleep 1000"] });
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

describeWithDocker("what a dead run leaves", () => {
  afterAll(async () => {
    await cleanDockerLeftovers();
  });

  test("after kill -9 the containers end by themselves, the rest goes with the next clean-up, the living stay", async () => {
    await using living = await openTestSandbox({ runId: `living-${process.pid}` });
    await using place = await living.open({ label: "living", limits });
    const harness = await startHarness();
    expect(await ofRun(runId)).toMatchObject({ containers: { length: 4 }, volumes: { length: 3 } });
    const untouched = await cleanDockerLeftovers();
    const before = await ofRun(runId);
    expect(await foldersOf(harness.pid)).toHaveLength(1);
    expect(before.volumes.some((name) => untouched.volumes.includes(name))).toBe(false);
    harness.kill("SIGKILL");
    await once(harness, "exit");
    await expect.poll(async () => (await ofRun(runId)).containers, { timeout: 20_000 }).toEqual([]);
    // Another test's clean-up may have been first; what counts is what is left.
    await cleanDockerLeftovers();
    expect(await ofRun(runId)).toEqual({ containers: [], volumes: [] });
    expect(await foldersOf(harness.pid)).toEqual([]);
    expect((await place.exec({ argv: ["echo", "alive"], timeoutMs: 10_000 })).stdout.text).toBe("alive\n");
    expect(await ofRun(`living-${process.pid}`)).toMatchObject({ containers: { length: 2 }, volumes: { length: 1 } });
  });

  test("disposal leaves nothing, also of places left open, one over the other", async () => {
    const run = `closed-${process.pid}`;
    const sandbox = await openTestSandbox({ runId: run });
    const below = await sandbox.open({ label: "below", limits });
    const top = await sandbox.open({ label: "top", limits, below: [below] });
    const started = await top.start({ argv: ["sleep", "1000"] });
    const before = (await foldersOf(process.pid)).length;
    await sandbox[Symbol.asyncDispose]();
    expect(await started.ended).toMatchObject({ how: "exited" });
    expect(await foldersOf(process.pid)).toHaveLength(before - 1);
    expect(await ofRun(run)).toEqual({ containers: [], volumes: [] });
    await expect(sandbox.open({ label: "late", limits })).rejects.toMatchObject({ code: "sandbox" });
  });

  test("a place whose container is taken away says so, and can still be closed", async () => {
    const run = `taken-${process.pid}`;
    await using sandbox = await openTestSandbox({ runId: run });
    const place = await sandbox.open({ label: "taken", limits });
    const started = await place.start({ argv: ["sleep", "1000"] });
    for (const id of (await ofRun(run)).containers)
      await docker
        .getContainer(id)
        .remove({ force: true })
        .catch(() => {});
    expect((await started.ended).exitCode).not.toBe(0);
    const command = { argv: ["true"], timeoutMs: 10_000 } as const;
    await expect(place.exec(command)).rejects.toMatchObject({
      code: "sandbox",
      message: expect.stringContaining("taken"),
    });
    await place[Symbol.asyncDispose]();
    expect(await ofRun(run)).toEqual({ containers: [], volumes: [] });
  });
});
