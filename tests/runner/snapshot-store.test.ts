import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SnapshotStore } from "../../src/runner/snapshot-store.ts";
import { packTar, readTar, type TarFile } from "../../src/runner/tar.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evoweb-store-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const file = (path: string, text: string, mode = 0o644): TarFile => ({ path, mode, bytes: Buffer.from(text) });

async function namesAndTexts(stream: Readable): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { header, body } of readTar(stream)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = header.type === "symlink" ? `-> ${header.linkname}` : Buffer.concat(chunks).toString("utf8");
    found[header.name] = `${header.mode.toString(8)} ${text}`;
  }
  return found;
}

test("a snapshot comes back byte for byte, with exec bits, symlinks and odd names", async () => {
  const store = await SnapshotStore.open(join(folder, "a.git"));
  const files = [
    file(".env", "A=1\r\n"),
    file("bin/run.sh", "#!/bin/sh\n", 0o755),
    { path: "link", linkTo: "../../etc/passwd" },
    file('odd "name"\nwith \\ and ünï', "x"),
  ];
  const snapshot = await store.commit(1, 1, packTar(files));
  expect(snapshot.files).toBe(4);
  expect(await namesAndTexts(await store.toTar(snapshot.sha))).toEqual({
    ".env": "644 A=1\r\n",
    "bin/run.sh": "755 #!/bin/sh\n",
    link: "644 -> ../../etc/passwd",
    'odd "name"\nwith \\ and ünï': "644 x",
  });
});

test("a repository that was never finished is made anew", async () => {
  const dir = join(folder, "half.git");
  await mkdir(join(dir, "objects"), { recursive: true });
  const store = await SnapshotStore.open(dir);
  expect((await store.commit(1, 1, packTar([file("a", "1")]))).files).toBe(1);
});

test("git that fails while the tree is still being read is one error, and a caught one", async () => {
  const store = await SnapshotStore.open(join(folder, "gone.git"));
  await rm(join(folder, "gone.git"), { recursive: true });
  async function* slowly(): AsyncGenerator<TarFile> {
    yield file("a", "1");
    // Longer than git takes to find out.
    await store.find(1).catch(() => null);
    yield file("b", "2");
  }
  await expect(store.commit(1, 1, packTar(slowly()))).rejects.toThrow("git could not");
});

test("files named in the agent's own .gitignore and marked export-ignore are kept", async () => {
  const store = await SnapshotStore.open(join(folder, "b.git"));
  const files = [
    file(".gitignore", "*.db\n"),
    file(".gitattributes", "* export-ignore eol=lf\n"),
    file("data.db", "a\r\nb"),
  ];
  const { sha } = await store.commit(1, 1, packTar(files));
  expect((await store.readFile(sha, "data.db"))?.toString()).toBe("a\r\nb");
  expect(Object.keys(await namesAndTexts(await store.toTar(sha)))).toContain("data.db");
});

test("equal files have equal trees, a removed file is gone, and an older attempt keeps a ref", async () => {
  const store = await SnapshotStore.open(join(folder, "c.git"));
  const first = await store.commit(1, 1, packTar([file("a", "1"), file("b", "2")]));
  const second = await store.commit(2, 1, packTar([file("a", "1")]));
  const again = await store.commit(2, 2, packTar([file("b", "2"), file("a", "1")]));
  expect((await store.list(second.sha)).map((entry) => entry.path)).toEqual(["a"]);
  expect(again.tree).toBe(first.tree);
  expect(await store.find(2)).toBe(again.sha);
  expect(await store.find(3)).toBeNull();
});

test("entries that could harm or cannot be kept are left out and named", async () => {
  const store = await SnapshotStore.open(join(folder, "d.git"));
  const tar = pack();
  tar.entry({ name: "../escape", mode: 0o644 }, "x");
  tar.entry({ name: "sub/.GIT/config", mode: 0o644 }, "[core]");
  tar.entry({ name: "pipe", type: "fifo" });
  tar.entry({ name: "./kept", mode: 0o644 }, "k");
  tar.finalize();
  const snapshot = await store.commit(1, 1, Readable.from(tar, { objectMode: false }));
  expect(snapshot.files).toBe(1);
  expect(snapshot.skipped).toEqual([
    "../escape: this name cannot be kept",
    "sub/.GIT/config: this name cannot be kept",
    "pipe: a fifo cannot be kept",
  ]);
});

test("an empty workspace is a snapshot too", async () => {
  const store = await SnapshotStore.open(join(folder, "e.git"));
  const snapshot = await store.commit(1, 1, packTar([]));
  expect(snapshot.files).toBe(0);
  expect(await namesAndTexts(await store.toTar(snapshot.sha))).toEqual({});
});

test("a broken stream leaves the earlier snapshot as it was", async () => {
  const store = await SnapshotStore.open(join(folder, "f.git"));
  const good = await store.commit(1, 1, packTar([file("a", "1")]));
  const broken = Readable.from(
    (function* () {
      yield Buffer.alloc(100);
      throw new Error("the container went away");
    })(),
    { objectMode: false },
  );
  await expect(store.commit(1, 2, broken)).rejects.toThrow("the container went away");
  expect(await store.find(1)).toBe(good.sha);
});
