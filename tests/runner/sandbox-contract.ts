import { buffer, text } from "node:stream/consumers";
import { once } from "node:events";
import { createServer } from "node:net";
import { Readable, type Duplex } from "node:stream";
import { extract, pack, type Header } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Command, CommandResult, Place, PlaceOptions, Sandbox } from "../../src/runner/sandbox.ts";

const limits = { memoryBytes: 512 * 1024 * 1024, cpus: 2, pids: 256 };
const CANARY = "EVOWEB_TEST_CANARY";
const SERVER = `
const net = require("node:net");
const [host, mode] = process.argv.slice(1);
net.createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => {});
  if (mode === "echo") socket.pipe(socket);
  else { let bytes = 0; socket.on("data", (chunk) => (bytes += chunk.length)); socket.on("end", () => socket.end("got " + bytes)); }
}).listen(0, host, function () { console.log("port=" + this.address().port); });
`;

/** An entry of a tree, as the tests compare it. */
interface Entry {
  readonly type: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/** Files of a tree (folders left out) by path. */
async function treeOf(place: Place, excludeNames: readonly string[] = []): Promise<Record<string, Entry>> {
  const found: Record<string, Entry> = {};
  const unpack = extract();
  (await place.readTree(excludeNames)).pipe(unpack);
  for await (const entry of unpack) {
    const { name, type, linkname, mode } = entry.header;
    const content = await text(entry);
    if (type === "directory") continue;
    const isExecutable = type === "file" && ((mode ?? 0) & 0o100) !== 0;
    found[name.replace(/^\.\//, "")] = { type: type ?? "", text: linkname ?? content, isExecutable };
  }
  return found;
}

type EntryHeader = Pick<Header, "name"> & Partial<Header>;

/** Writes entries, given as text (a file) or as a tar header with content, over a tree. */
async function writeEntries(
  place: Place,
  entries: readonly (readonly [string | EntryHeader, string])[],
): Promise<void> {
  const tar = pack();
  for (const [header, content] of entries) tar.entry(typeof header === "string" ? { name: header } : header, content);
  tar.finalize();
  await place.writeTree(Readable.from(tar));
}

async function run(place: Place, script: string, more: Partial<Command> = {}): Promise<CommandResult> {
  return place.exec({ argv: ["sh", "-c", script], timeoutMs: 20_000, ...more });
}

/** Whether a process whose command line holds `token` is alive, seen from inside. */
async function isRunning(place: Place, token: string): Promise<boolean> {
  const script = String.raw`cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' '`;
  return (await run(place, script)).stdout.text.includes(token);
}

async function startServer(place: Place, host: string, mode: string): Promise<number> {
  const server = await place.start({ argv: ["node", "-e", SERVER, host, mode] });
  await expect.poll(() => server.log().text, { timeout: 10_000 }).toContain("port=");
  return Number(/port=(\d+)/.exec(server.log().text)?.[1]);
}

async function read(stream: Duplex): Promise<Buffer> {
  return buffer(stream);
}

/** What every sandbox has to do alike; `open` makes a fresh one for the whole suite. */
export function describeSandboxContract(name: string, open: () => Promise<Sandbox>): void {
  describe(`${name} sandbox`, { timeout: 60_000 }, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      process.env[CANARY] = "canary-value-of-the-host";
      sandbox = await open();
    });
    afterAll(async () => {
      delete process.env[CANARY];
      await sandbox[Symbol.asyncDispose]();
    });
    const openPlace = (more: Partial<PlaceOptions> = {}): Promise<Place> =>
      sandbox.open({ label: "contract", limits, ...more });

    describeCommands(openPlace);
    describeProcesses(openPlace);
    describeTrees(openPlace);
    describeLayers(openPlace);
    describeNetwork(openPlace);

    test("keeps an agent's state outside the tree, and brings an earlier one back", async () => {
      await using place = await openPlace();
      await place.replaceState(null);
      await run(place, `echo one > ${place.stateRoot}/session && mkdir ${place.stateRoot}/d && echo tree > file`);
      const earlier = await buffer(await place.readState());
      await run(place, `echo two > ${place.stateRoot}/session && echo x > ${place.stateRoot}/d/later`);
      await place.replaceState(Readable.from([earlier]));
      const { stdout } = await run(place, `cat ${place.stateRoot}/session; ls -A ${place.stateRoot}/d`);
      expect(stdout.text).toBe("one\n");
      expect(Object.keys(await treeOf(place))).toEqual(["file"]);
      await place.replaceState(null);
      expect((await run(place, `ls -A ${place.stateRoot}`)).stdout.text).toBe("");
    });

    test("says what protects the host", async () => {
      const description = await sandbox.describe();
      expect(description.kind).toBe(sandbox.kind);
      expect(description.notes.length).toBeGreaterThan(0);
    });
  });
}

type Open = (more?: Partial<PlaceOptions>) => Promise<Place>;

function describeCommands(open: Open): void {
  test("a command gives exit code, output, folder, environment and input", async () => {
    await using place = await open();
    const result = await run(place, 'mkdir sub; pwd; echo "$GIVEN"; cat; echo bad >&2; exit 7', {
      env: { GIVEN: "a value" },
      stdin: "typed in",
    });
    expect(result).toMatchObject({ exitCode: 7, signal: null, how: "exited" });
    expect(result.stdout.text).toBe(`${place.root}\na value\ntyped in`);
    expect(result.stderr.text).toBe("bad\n");
    const inside = await run(place, "pwd; cat", { cwd: "sub" });
    expect(inside.stdout.text).toBe(`${place.root}/sub\n`);
    expect((await run(place, "kill -9 $$")).exitCode ?? "signal").not.toBe(0);
  });

  test("a program that does not exist is a result, not an error", async () => {
    await using place = await open();
    const result = await place.exec({ argv: ["no-such-program"], timeoutMs: 10_000 });
    expect([126, 127]).toContain(result.exitCode);
  });

  test("standard streams can be opened by name", async () => {
    await using place = await open();
    const { stdout, stderr } = await run(place, "cat /dev/stdin > /dev/stdout; echo bad > /dev/stderr", {
      stdin: "in",
    });
    expect([stdout.text, stderr.text]).toEqual(["in", "bad\n"]);
  });

  test("nothing of the host's environment gets in, HOME and TMPDIR are private and writable", async () => {
    await using place = await open();
    const { stdout } = await run(
      place,
      'env; cd "$HOME" && touch x && cd "${TMPDIR:-/tmp}" && touch y && echo written',
    );
    expect(stdout.text).toContain("written");
    expect(stdout.text).not.toContain("canary-value-of-the-host");
    expect(stdout.text).not.toContain(`HOME=${process.env["HOME"]}\n`);
  });

  test("output is kept head and tail, its size is said, and it is harmless text", async () => {
    await using place = await open();
    const script = String.raw`printf 'first\033[31m red\033[0m \377\r\n'; head -c 3000000 /dev/zero | tr '\0' x; printf '\nlast\n'`;
    const { stdout } = await run(place, script, { maxOutputBytes: 10_000 });
    expect(stdout.text.startsWith("first red \uFFFD\n")).toBe(true);
    expect(stdout.text.endsWith("x\nlast\n")).toBe(true);
    expect(stdout.text.length).toBeLessThan(10_200);
    expect(stdout.totalBytes).toBe(3_000_000 + 28);
    expect(stdout.droppedBytes).toBe(stdout.totalBytes - 10_000);
    expect(stdout.text).toContain(`${stdout.droppedBytes} bytes left out`);
  });

  test("the deadline ends a whole tree that ignores SIGTERM, but not what ran before", async () => {
    await using place = await open();
    await place.start({ argv: ["sleep", "98761"] });
    const tree = `trap '' TERM; setsid sleep 98762 & (sleep 98763 &) ; while :; do sleep 0.1; done`;
    const result = await run(place, tree, { timeoutMs: 300 });
    expect(result.how).toBe("timed_out");
    expect(result.durationMs).toBeLessThan(10_000);
    expect(await isRunning(place, "sleep 98762")).toBe(false);
    expect(await isRunning(place, "sleep 98763")).toBe(false);
    expect(await isRunning(place, "sleep 98761")).toBe(true);
  });

  test("aborting ends a command; an aborted signal never starts one", async () => {
    await using place = await open();
    const controller = new AbortController();
    const running = run(place, "sleep 98764", { signal: controller.signal });
    await expect.poll(() => isRunning(place, "sleep 98764"), { timeout: 10_000 }).toBe(true);
    controller.abort();
    expect((await running).how).toBe("aborted");
    expect(await isRunning(place, "sleep 98764")).toBe(false);
    const never = await run(place, "touch started", { signal: controller.signal });
    expect(never).toMatchObject({ how: "aborted", exitCode: null, signal: null });
    expect(await treeOf(place)).toEqual({});
  });
}

function describeProcesses(open: Open): void {
  test("a command returns when it ends, though a background child holds its output (B29)", async () => {
    await using place = await open();
    const result = await run(place, "sleep 98765 & echo started");
    expect(result).toMatchObject({ exitCode: 0, stdout: { text: "started\n" } });
    expect(result.durationMs).toBeLessThan(5000);
    expect(await isRunning(place, "sleep 98765")).toBe(true);
    expect(await place.endProcesses(200)).toContainEqual(expect.stringContaining("sleep 98765"));
    expect(await isRunning(place, "sleep 98765")).toBe(false);
  });

  test("a started process logs and tells how it ended", async () => {
    await using place = await open();
    const started = await place.start({ argv: ["sh", "-c", "echo out; echo err >&2; exit 3"] });
    expect(await started.ended).toMatchObject({ exitCode: 3, signal: null, how: "exited" });
    expect(started.log().text.split("\n").toSorted()).toEqual(["", "err", "out"]);
  });

  test("ending processes reaches new sessions, double forks and those who ignore SIGTERM", async () => {
    await using place = await open();
    const script = `trap '' TERM; setsid sleep 98766 & (setsid sh -c 'sleep 98767 & exec sleep 98768' &) ; sleep 98769`;
    const started = await place.start({ argv: ["sh", "-c", script] });
    for (const token of ["98766", "98767", "98768", "98769"]) {
      await expect.poll(() => isRunning(place, `sleep ${token}`), { timeout: 10_000 }).toBe(true);
    }
    const met = await place.endProcesses(200);
    expect(met.filter((line) => /^sleep 9876\d/.test(line))).toHaveLength(4);
    await started.ended;
    for (const token of ["98766", "98767", "98768", "98769"]) expect(await isRunning(place, token)).toBe(false);
    expect(await place.endProcesses(200)).toEqual([]);
  });

  test("disposal ends what still runs, twice does no harm, and a closed place says so", async () => {
    const place = await open();
    const started = await place.start({ argv: ["sleep", "98770"] });
    await place[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
    expect((await started.ended).exitCode).not.toBe(0);
    await expect(run(place, "true")).rejects.toMatchObject({ code: "sandbox" });
  });
}

const ODD_NAMES = ["with blank", 'quo"te', "new\nline", "ünï-日本", "-dash", "back\\slash", "*", "dir/.hidden"];

function describeTrees(open: Open): void {
  test("a tree comes back as it was written: contents, exec bits, symlinks, odd names", async () => {
    await using source = await open();
    await using target = await open();
    const link = { name: "link", type: "symlink", linkname: "/etc/passwd" } as const;
    const files = ODD_NAMES.map((name) => [name, `content of ${name}`] as const);
    await writeEntries(source, [...files, [{ name: "run.sh", mode: 0o755 }, "#!/bin/sh\necho ran\n"], [link, ""]]);
    await run(source, "ln -s dir folder-link; ln run.sh hard-link");
    const before = await treeOf(source);
    expect(before["link"]).toEqual({ type: "symlink", text: "/etc/passwd", isExecutable: false });
    expect(before["folder-link"]).toMatchObject({ type: "symlink", text: "dir" });
    expect(before["hard-link"]).toEqual(before["run.sh"]);
    for (const name of ODD_NAMES) {
      expect(before[name]).toEqual({ type: "file", text: `content of ${name}`, isExecutable: false });
    }
    await target.writeTree(await source.readTree([]));
    expect(await treeOf(target)).toEqual(before);
    expect((await run(target, "./run.sh && echo more >> run.sh && rm -- -dash")).stdout.text).toBe("ran\n");
  });

  test("folders can be left out at every depth", async () => {
    await using place = await open();
    await run(place, "mkdir -p a/skip b skip .git; touch a/skip/x a/keep b/keep skip/y .git/config skipper");
    expect(Object.keys(await treeOf(place, ["skip", ".git"])).toSorted()).toEqual(["a/keep", "b/keep", "skipper"]);
  });

  test("what is no tar is refused", async () => {
    await using place = await open();
    await run(place, "echo 'no tar at all, only text' > x");
    await expect(place.writeTree(Readable.from([Buffer.alloc(2048, "x")]))).rejects.toMatchObject({ code: "sandbox" });
  });

  test("clearing keeps folders of the given names at every depth and follows no symlink", async () => {
    await using place = await open();
    await using other = await open();
    await run(other, "mkdir d; touch d/precious");
    await run(
      place,
      `mkdir -p node_modules/empty a/node_modules b/c .h; touch node_modules/x a/node_modules/y a/z b/c/f .h/g; chmod 555 b/c; ln -s ${other.root}/d out; touch "new
line"`,
    );
    await place.clearTree(["node_modules"]);
    expect(Object.keys(await treeOf(place)).toSorted()).toEqual(["a/node_modules/y", "node_modules/x"]);
    expect((await run(place, "find . -type d | sort")).stdout.text).toBe(
      ".\n./a\n./a/node_modules\n./node_modules\n./node_modules/empty\n",
    );
    await place.clearTree([]);
    expect((await run(place, "ls -A")).stdout.text).toBe("");
    expect(Object.keys(await treeOf(other))).toEqual(["d/precious"]);
  });

  test("the size of a tree is measured", async () => {
    await using place = await open();
    const empty = await place.sizeBytes();
    await run(place, "head -c 3000000 /dev/urandom > big");
    const grown = (await place.sizeBytes()) - empty;
    expect(grown).toBeGreaterThanOrEqual(3_000_000);
    expect(grown).toBeLessThan(4_000_000);
  });
}

function describeLayers(open: Open): void {
  test("writes and deletions in a copy never reach what lies below", async () => {
    await using base = await open();
    await writeEntries(base, [
      ["kept", "base"],
      ["changed", "base"],
      ["removed", "base"],
      ["dir/inner", "base"],
    ]);
    const before = await treeOf(base);
    await using copy = await open({ below: [base] });
    expect(await treeOf(copy)).toEqual(before);
    await run(copy, "echo more >> changed; rm removed; rm -r dir; echo file > dir; echo new > added");
    const names = Object.keys(await treeOf(copy)).toSorted();
    expect(names).toEqual(["added", "changed", "dir", "kept"]);
    expect((await treeOf(copy))["changed"]?.text).toBe("basemore\n");
    expect(await treeOf(base)).toEqual(before);
    await using again = await open({ below: [base] });
    expect(await treeOf(again)).toEqual(before);
  });

  test("the first layer wins, and layers below layers show", async () => {
    await using low = await open();
    await using high = await open();
    await writeEntries(low, [
      ["both", "low"],
      ["low-only", "low"],
      ["node_modules/dep/index.js", "low"],
    ]);
    await writeEntries(high, [
      ["both", "high"],
      ["high-only", "high"],
    ]);
    await using merged = await open({ below: [high, low] });
    await using base = await open({ below: [low] });
    await writeEntries(base, [["both", "base"]]);
    await using copy = await open({ below: [base] });
    const texts = async (place: Place): Promise<Record<string, string>> =>
      Object.fromEntries(Object.entries(await treeOf(place)).map(([name, entry]) => [name, entry.text]));
    expect(await texts(merged)).toEqual({
      both: "high",
      "high-only": "high",
      "low-only": "low",
      "node_modules/dep/index.js": "low",
    });
    expect(await texts(copy)).toEqual({ both: "base", "low-only": "low", "node_modules/dep/index.js": "low" });
    expect(await texts(low)).toMatchObject({ both: "low" });
  });
}

function describeNetwork(open: Open): void {
  test.each([
    ["127.0.0.1", ["127.0.0.1"]],
    ["::1", ["::1"]],
    ["0.0.0.0", ["0.0.0.0"]],
    ["::", ["::"]],
  ])("a server on %s is found and reached, with its half-closed connections", async (host, addresses) => {
    await using place = await open();
    await using stranger = await open();
    const port = await startServer(place, host, "count");
    await expect.poll(async () => (await place.listeners()).map((listener) => listener.port)).toEqual([port]);
    expect((await place.listeners()).map(({ address }) => address)).toEqual(addresses);
    expect(await stranger.listeners()).toEqual([]);
    await expect(stranger.connect(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const connection = await place.connect(port);
    connection.end("x".repeat(100_000));
    expect((await read(connection)).toString()).toBe("got 100000");
    await place.endProcesses(0);
    await expect(place.connect(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await place.listeners()).toEqual([]);
  });

  test("10 MB come back whole, on several connections at once", async () => {
    await using place = await open();
    const port = await startServer(place, "127.0.0.1", "echo");
    await expect.poll(async () => (await place.listeners()).length).toBe(1);
    const bytes = Buffer.alloc(10 * 1024 * 1024, "0123456789");
    const echoes = [1, 2, 3].map(async () => {
      const connection = await place.connect(port);
      const echo = read(connection);
      connection.end(bytes);
      return (await echo).equals(bytes);
    });
    expect(await Promise.all(echoes)).toEqual([true, true, true]);
  });

  test("a port that nobody in the place listens on is refused, also when the host listens there", async () => {
    await using place = await open();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    await expect(place.connect(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    server.close();
  });

  test("a suggested port can be listened on; egress can be changed at any time", async () => {
    await using place = await open({ egress: { allow: ["example.test:443"] } });
    const port = await place.suggestPort();
    const listen = `require("net").createServer().listen(${port}, () => console.log("listening"))`;
    const server = await place.start({ argv: ["node", "-e", listen] });
    await expect.poll(() => server.log().text, { timeout: 10_000 }).toContain("listening");
    await place.setEgress({ allow: [] });
    expect(place.egressLog()).toEqual([]);
  });
}
