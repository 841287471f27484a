import { existsSync } from "node:fs";
import { describe } from "vitest";
import { ensureImage } from "../../../src/runner/docker/images.ts";
import { openDockerSandbox } from "../../../src/runner/docker/docker-sandbox.ts";
import type { DockerSandboxOptions } from "../../../src/runner/docker/docker-sandbox.ts";
import type { Sandbox } from "../../../src/runner/sandbox.ts";

const hasEngine = existsSync("/var/run/docker.sock");

/** A suite that needs an engine: without one it fails in CI and is a visible skip elsewhere. */
export const describeWithDocker = hasEngine || process.env["CI"] !== undefined ? describe : describe.skip;

/** Bounds that suffice for small programs. */
export const limits = { memoryBytes: 256 * 1024 * 1024, cpus: 2, pids: 200 };

const caFile = process.env["EVOWEB_CA_FILE"];

/** Builds the image on first use. */
export async function openTestSandbox(options: Partial<DockerSandboxOptions> = {}): Promise<Sandbox> {
  const image = await ensureImage(caFile === undefined ? {} : { caFile });
  return openDockerSandbox({ runId: "test", image: image.tag, ...options });
}
