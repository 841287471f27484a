import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Docker from "dockerode";
import { afterEach, expect, test } from "vitest";
import { labelsFor } from "../../src/runner/docker/labels.ts";
import { thisOwner } from "../../src/runner/lease.ts";
import { describeWithDocker } from "../runner/docker/engine.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** Runs evoweb as a user does; rejects when its exit code is not 0. */
async function evoweb(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ stdout: string; stderr: string }> {
  const argv = ["--import", "tsx", MAIN, ...args];
  return promisify(execFile)(process.execPath, argv, { env: { ...process.env, ...env } });
}

describeWithDocker("the command line and the engine", () => {
  const docker = new Docker();
  const volume = `evw-clitest-${process.pid}`;
  afterEach(async () => {
    await docker
      .getVolume(volume)
      .remove()
      .catch(() => {});
  });

  test("evoweb clean removes what a dead run left, says so, and keeps what a living one has", async () => {
    const name = `${volume}-living`;
    const dead = { ...thisOwner(), startTicks: "1" };
    await docker.createVolume({ Name: volume, Labels: labelsFor({ runId: "r", owner: dead }, "p") });
    await docker.createVolume({ Name: name, Labels: labelsFor({ runId: "r", owner: thisOwner() }, "p") });
    try {
      const { docker: removed } = JSON.parse((await evoweb(["clean", "--json"])).stdout) as {
        docker: { volumes: string[] };
      };
      // Another test's clean-up may come between and have taken it.
      expect(removed.volumes).not.toContain(name);
      const { Volumes: left } = await docker.listVolumes();
      expect(left.map(({ Name }) => Name)).not.toContain(volume);
      expect(left.map(({ Name }) => Name)).toContain(name);
    } finally {
      await docker.getVolume(name).remove();
    }
  });

  test("a chosen engine that does not answer is an error", async () => {
    const env = { DOCKER_HOST: "tcp://127.0.0.1:9" };
    await expect(evoweb(["clean"], env)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ECONNREFUSED"),
    });
    await expect(evoweb(["images", "build"], env)).rejects.toMatchObject({ code: 1, stdout: "" });
    await expect(evoweb(["clean"], { DOCKER_HOST: "nonsense" })).rejects.toMatchObject({ code: 2 });
  });

  test("evoweb images build names the image that is there", async () => {
    const image = JSON.parse((await evoweb(["images", "build", "--json"])).stdout) as Record<string, unknown>;
    expect(image).toMatchObject({ tag: expect.stringMatching(/^evoweb-sandbox:[0-9a-f]{12}$/), wasBuilt: false });
    expect((await evoweb(["images", "build", "--help"])).stdout).toContain("Examples:");
  });
});
