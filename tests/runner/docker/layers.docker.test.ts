import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Place, Sandbox } from "../../../src/runner/sandbox.ts";
import { connectEngine } from "../../../src/runner/docker/engine.ts";
import { createOverlay } from "../../../src/runner/docker/volumes.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

describeWithDocker("trees over trees", () => {
  describe.each(["overlay", "copy"] as const)("by %s", (layering) => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await openTestSandbox({ layering });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());
    const open = (label: string, below: readonly Place[] = []): Promise<Place> =>
      sandbox.open({ label, limits, below });
    const run = async (place: Place, script: string): Promise<string> => {
      const { stdout } = await place.exec({ argv: ["/bin/bash", "-c", script], timeoutMs: 30_000 });
      return stdout.text;
    };

    test("three floors keep their own changes, and vandals do not get down", async () => {
      await using ground = await open("ground");
      await run(ground, "mkdir -p node_modules/dep; echo ground | tee a b node_modules/dep/index.js; ln a hard");
      await using first = await open("first", [ground]);
      await run(first, "rm b; echo first > a; rm -r node_modules; mkdir node_modules; echo new > node_modules/n");
      await using second = await open("second", [first]);
      expect(await run(second, "cat a; ls; ls node_modules")).toBe("first\na\nhard\nnode_modules\nn\n");
      await run(
        second,
        "find . -type f -exec sh -c 'echo vandal >> \"$1\"' sh {} \\;; rm -rf node_modules; chmod -R 0 .; true",
      );
      expect(await run(first, "cat a node_modules/n; ls")).toBe("first\nnew\na\nhard\nnode_modules\n");
      expect(await run(ground, "cat a b hard node_modules/dep/index.js; ls")).toBe(
        "ground\nground\nground\nground\na\nb\nhard\nnode_modules\n",
      );
    });

    test("what is below does not count as a place's own size unless it was copied", async () => {
      await using ground = await open("ground");
      await run(ground, "head -c 5000000 /dev/urandom > big");
      await using top = await open("top", [ground]);
      const own = await top.sizeBytes();
      if (layering === "overlay") expect(own).toBeLessThan(100_000);
      else expect(own).toBeGreaterThan(5_000_000);
      await run(top, "head -c 2000000 /dev/urandom > more");
      expect((await top.sizeBytes()) - own).toBeGreaterThanOrEqual(2_000_000);
    });

    test("the description says how", async () => {
      const notes = (await sandbox.describe()).notes.join(" ");
      expect(notes).toContain(layering === "overlay" ? "overlay mounts" : "real copies");
    });
  });

  test("a place and what it stands on may both be named", async () => {
    await using sandbox = await openTestSandbox();
    await using ground = await sandbox.open({ label: "ground", limits });
    await ground.exec({ argv: ["/bin/bash", "-c", "echo ground > a"], timeoutMs: 10_000 });
    await using first = await sandbox.open({ label: "first", limits, below: [ground] });
    await using top = await sandbox.open({ label: "top", limits, below: [first, ground, first] });
    expect((await top.exec({ argv: ["cat", "a"], timeoutMs: 10_000 })).stdout.text).toBe("ground\n");
    expect((await sandbox.describe()).notes.join(" ")).toContain("overlay mounts");
  });

  test("an overlay that the engine's machine refuses is replaced by a copy, and the description says why", async () => {
    await using sandbox = await openTestSandbox();
    await using ground = await sandbox.open({ label: "ground", limits });
    await ground.exec({ argv: ["/bin/bash", "-c", "echo ground > a"], timeoutMs: 10_000 });
    // Stands for a kernel that cannot mount it: the engine really tries and really refuses.
    Object.defineProperty(ground, "layers", { value: ["/there/is/no/such/folder"] });
    await using top = await sandbox.open({ label: "top", limits, below: [ground] });
    expect((await top.exec({ argv: ["cat", "a"], timeoutMs: 10_000 })).stdout.text).toBe("ground\n");
    expect((await sandbox.describe()).notes.join(" ")).toMatch(/real copies: .*failed to mount local volume/);
  });

  test("more layers than one mount can name are not tried", async () => {
    const upper = { name: "u", mountpoint: "/var/lib/docker/volumes/u/_data" };
    const lower = Array.from({ length: 100 }, (_, at) => `/var/lib/docker/volumes/evw-000000000${at}/_data/u`);
    // No engine answers there, so nothing was asked of one.
    const nowhere = connectEngine({ dockerHost: "tcp://127.0.0.1:9" });
    expect(await createOverlay(nowhere, { name: "o", lower, upper, labels: {} })).toBe(false);
  });
});
