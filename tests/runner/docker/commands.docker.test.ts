import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pack } from "tar-stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandResult, Place, Sandbox } from "../../../src/runner/sandbox.ts";
import { describeWithDocker, limits, openTestSandbox } from "./engine.ts";

const fixture = (name: string): Promise<Buffer> => readFile(new URL(`../../fixtures/docker/${name}`, import.meta.url));
const HOG = "const kept = []; for (;;) kept.push(Buffer.alloc(10e6, 1))";

async function write(place: Place, files: Readonly<Record<string, Buffer>>): Promise<void> {
  const tar = pack();
  // As the host's archives come: root's, which inside must become the agent's.
  for (const [name, content] of Object.entries(files)) tar.entry({ name, uid: 0, gid: 0, mode: 0o644 }, content);
  tar.finalize();
  await place.writeTree(Readable.from(tar));
}

describeWithDocker("commands in a container", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openTestSandbox();
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());
  const open = (): Promise<Place> => sandbox.open({ label: "commands", limits });
  const run = (place: Place, script: string, timeoutMs = 30_000): Promise<CommandResult> =>
    place.exec({ argv: ["/bin/bash", "-c", script], timeoutMs });

  test("an app that eats its memory is told apart, with limit and program, and the place lives on (B22)", async () => {
    await using place = await open();
    await write(place, {
      "server.mjs": await fixture("hungry/server.mjs"),
      "package.json": await fixture("hungry/package.json"),
    });
    const app = await place.start({ argv: ["npm", "start"], env: { PORT: "3000" } });
    await expect.poll(async () => (await place.listeners()).length, { timeout: 20_000 }).toBe(1);
    let requests = 0;
    // 40 requests at most: then the server has taken 2 GB of its 256 MB.
    while (requests < 40 && (await askOnce(place, 3000))) requests += 1;
    const end = await app.ended;
    expect(requests).toBeGreaterThan(0);
    expect(end).toMatchObject({ how: "out_of_memory", detail: "killed: out of memory, limit 256 MB (npm start)" });
    expect((await run(place, "echo alive")).stdout.text).toBe("alive\n");
  });

  test("out of memory is seen in a pipeline that ends well, and 137 alone is not out of memory", async () => {
    await using place = await open();
    const direct = await place.exec({ argv: ["node", "-e", HOG], timeoutMs: 30_000 });
    expect(direct).toMatchObject({ exitCode: null, signal: "SIGKILL", how: "out_of_memory" });
    expect(await run(place, `node -e '${HOG}' | cat`)).toMatchObject({ exitCode: 0, how: "out_of_memory" });
    expect(await run(place, "kill -9 $$")).toMatchObject({ signal: "SIGKILL", how: "exited" });
    expect(await run(place, "exit 0")).toMatchObject({ exitCode: 0, how: "exited" });
  });

  test("a command that ignores SIGTERM and has children is gone after its limit (B31)", async () => {
    await using place = await open();
    await write(place, { "burn.sh": await fixture("burn.sh") });
    const result = await place.exec({ argv: ["sh", "burn.sh"], timeoutMs: 3000 });
    expect(result).toMatchObject({ how: "timed_out", signal: "SIGKILL", exitCode: null });
    expect(result.durationMs).toBeLessThan(10_000);
    const look = "stat -c %s burn.log; ps -o user= -o args= -u app";
    const first = await run(place, look);
    const second = await run(place, `sleep 1; ${look}`);
    expect(first.stdout.text).not.toMatch(/burn|sleep 90/);
    expect(second.stdout.text.split("\n")[0]).toBe(first.stdout.text.split("\n")[0]);
    expect(await place.sizeBytes()).toBeLessThan(100e6);
  });

  test("what escapes by an empty environment and a new session is ended with the place's other processes", async () => {
    await using place = await open();
    await run(place, "env -i setsid sleep 98751 < /dev/null > /dev/null 2>&1 & sleep 0.2", 10_000);
    expect(await place.endProcesses(100)).toEqual(["sleep 98751"]);
  });

  test("processes can be ended under a fork bomb at the limit", async () => {
    await using place = await open();
    await place.start({ argv: ["/bin/bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"] });
    const count = async (): Promise<number> => (await place.endProcesses(0)).length;
    // The place says "started" before the shell has forked for the first time.
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect.poll(count, { timeout: 20_000 }).toBe(0);
    expect((await run(place, "echo alive")).stdout.text).toBe("alive\n");
  });

  test("a server left in the background can be used by the next command and is gone after the turn (B29)", async () => {
    await using place = await open();
    const server = `require("http").createServer((q, s) => { console.log("noise".repeat(1000)); s.end("hello") }).listen(8123)`;
    const first = await run(place, `node -e '${server}' & sleep 0.5; echo started`);
    expect(first).toMatchObject({ exitCode: 0, stdout: { text: "started\n" } });
    const second = await run(place, "for i in 1 2 3; do curl -s localhost:8123; done");
    expect(second.stdout.text).toBe("hellohellohello");
    expect(await place.endProcesses(500)).toHaveLength(1);
    expect(await place.listeners()).toEqual([]);
  });

  test("files put in belong to the user of agents, and what they make comes back (B17)", async () => {
    await using place = await open();
    await write(place, { "seed.txt": Buffer.from("seed\n"), "check.sh": await fixture("check-writable.sh") });
    const result = await place.exec({ argv: ["sh", "check.sh"], timeoutMs: 10_000 });
    expect(result.stdout.text).toBe("ok\n");
    expect((await run(place, "stat -c %U:%G . seed.txt src | sort -u")).stdout.text).toBe("app:app\n");
    await place.clearTree([]);
    expect((await run(place, "ls -A")).stdout.text).toBe("");
  });

  test("a tree with unreadable files, pipes and sockets can still be read", async () => {
    await using place = await open();
    const odd = `mkfifo pipe; touch secret; chmod 0 secret; node -e 'require("net").createServer().listen("sock", () => process.exit())'; touch fine`;
    await run(place, odd);
    let text = "";
    for await (const bytes of await place.readTree([])) text += (bytes as Buffer).toString("latin1");
    expect(text).toContain("./fine");
    expect(text).not.toContain("./secret");
  });

  test("200 MB of output are drained, counted and bounded (B47)", async () => {
    await using place = await open();
    const noisy = await place.start({
      argv: ["/bin/bash", "-c", "yes $'\\e[31mnoise\\xff' | head -c 200000000; echo end"],
    });
    expect(await noisy.ended).toMatchObject({ exitCode: 0 });
    const log = noisy.log();
    expect(log.totalBytes).toBe(200_000_004);
    expect(log.text.length).toBeLessThan(1.1 * 1024 * 1024);
    expect(log.text.endsWith("end\n")).toBe(true);
  });
});

async function askOnce(place: Place, port: number): Promise<boolean> {
  try {
    const connection = await place.connect(port);
    connection.write("GET / HTTP/1.0\r\n\r\n");
    let answer = "";
    for await (const bytes of connection) answer += String(bytes);
    return answer.includes("Hungry app");
  } catch {
    return false;
  }
}
