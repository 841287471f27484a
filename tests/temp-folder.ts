import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A folder that is removed when the test that asked for it ends. */
export async function makeTempFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "evoweb-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
