import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { connectEngine } from "../../../src/runner/docker/engine.ts";
import { runCommand, type CommandHost } from "../../../src/runner/docker/run-command.ts";
import { readTree } from "../../../src/runner/docker/tree.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/docker/${name}`, import.meta.url));

let engine: ChildProcess | undefined;
afterEach(() => engine?.kill());

/** A scripted Docker engine: a real HTTP server in a process of its own. */
async function scriptedEngine(...args: string[]): Promise<string> {
  engine = spawn(process.execPath, [fixture("fake-dockerd.mjs"), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(engine.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return /tcp:\S+/.exec(line.toString())?.[0] ?? "";
}

function hostOn(dockerHost: string): CommandHost & { ended: string[] } {
  const ended: string[] = [];
  return {
    container: connectEngine({ dockerHost }).getContainer("c1"),
    user: "1000:1000",
    root: "/workspace",
    memoryBytes: 1e9,
    running: new Set(),
    ended,
    oomKills: async () => 0,
    endMarked: async (marker) => void ended.push(marker),
    endAll: async () => {},
  };
}

const command = { argv: ["/bin/bash", "-c", "true"], timeoutMs: 10_000 } as const;

describe("a command on an engine", () => {
  test.each([[["--chunk", "5"]], [["--chunk", "1"]], [[]]])("gives its two outputs apart (B11, %j)", async (chunk) => {
    const host = hostOn(await scriptedEngine("--mode", "frames", "--file", fixture("frames.bin"), ...chunk));
    const result = await runCommand(host, command);
    expect(result).toMatchObject({ exitCode: 0, how: "exited" });
    expect(result.stdout.text).toBe(readFileSync(fixture("expected-stdout.txt"), "utf8"));
    expect(result.stderr.text).toBe(readFileSync(fixture("expected-stderr.txt"), "utf8"));
  });

  test.each(["raw.bin", "broken-header.bin"])(
    "without frames is a fault of the engine, never an empty output (B13, %s)",
    async (file) => {
      const host = hostOn(await scriptedEngine("--mode", "frames", "--tty", "true", "--file", fixture(file)));
      await expect(runCommand(host, command)).rejects.toMatchObject({
        code: "docker",
        message: expect.stringMatching(/frames/),
      });
      expect(host.ended).toHaveLength(1);
    },
  );

  test("whose stream never ends gives its output and exit code, and is not called timed out (B14)", async () => {
    const result = await runCommand(hostOn(await scriptedEngine("--mode", "hang")), command);
    expect(result).toMatchObject({ exitCode: 0, how: "exited", stdout: { text: "hello from stdout\n" } });
    expect(result.stderr.text).toBe("hello from stderr\n");
    expect(result.durationMs).toBeLessThan(8000);
  });

  test("whose stream never ends does not keep the process alive (B14)", async () => {
    const dockerHost = await scriptedEngine("--mode", "hang");
    const source = (name: string): string => new URL(`../../../src/runner/docker/${name}`, import.meta.url).href;
    const program = `
      const { connectEngine } = await import(${JSON.stringify(source("engine.ts"))});
      const { runCommand } = await import(${JSON.stringify(source("run-command.ts"))});
      const host = { container: connectEngine({ dockerHost: ${JSON.stringify(dockerHost)} }).getContainer("c1"), user: "0",
        root: "/", memoryBytes: 1, running: new Set(), oomKills: async () => 0, endMarked: async () => {}, endAll: async () => {} };
      console.log((await runCommand(host, { argv: ["x"], timeoutMs: 60000 })).stdout.text.trim());`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 30_000,
    });
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said).toBe("hello from stdout\n");
  }, 40_000);

  test("that the image cannot run is a fault of the image, in the engine's words (B16)", async () => {
    const host = hostOn(await scriptedEngine("--mode", "no-shell"));
    const fault = {
      code: "image",
      message: expect.stringContaining('exec: "/bin/bash": stat /bin/bash: no such file'),
    };
    await expect(runCommand(host, command)).rejects.toMatchObject(fault);
    await expect(readTree(host.container, host.user, { root: "/", exclude: [] })).rejects.toMatchObject({
      code: "image",
    });
  });

  test("on an engine that is gone is a fault of Docker", async () => {
    await expect(runCommand(hostOn("tcp://127.0.0.1:9"), command)).rejects.toMatchObject({ code: "docker" });
  });
});
