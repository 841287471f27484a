import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { thisOwner } from "../../src/runner/lease.ts";
import { lockRunFolder } from "../../src/runner/run-lock.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "evoweb-lock-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a second claim on a folder is refused while the first lives, and names the holder", () => {
  const first = lockRunFolder(dir);
  expect(() => lockRunFolder(dir)).toThrow(`process ${process.pid} on`);
  first[Symbol.dispose]();
  lockRunFolder(dir)[Symbol.dispose]();
  expect(readdirSync(dir)).toEqual([]);
});

test("the claim of a dead process is taken over", async () => {
  const child = spawn("true");
  await once(child, "exit");
  writeFileSync(join(dir, "lock.json"), JSON.stringify({ ...thisOwner(), pid: child.pid, startTicks: "1" }));
  const lock = lockRunFolder(dir);
  expect(readdirSync(dir)).toEqual(["lock.json"]);
  lock[Symbol.dispose]();
});

test("a claim of this pid before a reboot is a dead one", () => {
  writeFileSync(join(dir, "lock.json"), JSON.stringify({ ...thisOwner(), bootId: "another boot" }));
  lockRunFolder(dir)[Symbol.dispose]();
});
