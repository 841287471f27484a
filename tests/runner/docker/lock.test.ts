import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withLock } from "../../../src/runner/docker/lock.ts";
import { thisOwner } from "../../../src/runner/lease.ts";

test("one holds a lock at a time, and the lock of a dead process is taken over", async () => {
  const name = `test-${process.pid}`;
  const { pid } = spawnSync("true");
  await writeFile(join(tmpdir(), `evoweb-${name}.lock`), JSON.stringify({ ...thisOwner(), pid, startTicks: "1" }));
  const steps: string[] = [];
  const work = (id: string) =>
    withLock(name, undefined, async () => {
      steps.push(`${id} begins`);
      await new Promise(setImmediate);
      steps.push(`${id} ends`);
    });
  await Promise.all([work("a"), work("b")]);
  expect(steps.map((step) => step.split(" ")[1])).toEqual(["begins", "ends", "begins", "ends"]);
  await rm(join(tmpdir(), `evoweb-${name}.lock`), { force: true });
});

test("waiting for a lock can be given up", async () => {
  const name = `test-wait-${process.pid}`;
  await withLock(name, undefined, async () => {
    await expect(withLock(name, AbortSignal.timeout(50), async () => {})).rejects.toThrow(/abort/i);
  });
});
