import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { openDataset, validateDataset } from "../../../src/dataset/open-dataset.ts";
import { pullDataset } from "../../../src/dataset/pull-dataset.ts";
import { makeTempFolder } from "../../temp-folder.ts";
import { sampleRow } from "../sample-row.ts";
import { refuse, startHub, type HubRepo } from "./hub-server.ts";

vi.setConfig({ testTimeout: 60_000 });

const NAME = "TD-Labs/EvoWeb";
const COMMIT = "c0ffee".padEnd(40, "0");
const rows = (...ids: readonly string[]): string => ids.map((id) => `${JSON.stringify(sampleRow(id))}\n`).join("");
const card = `---
license: apache-2.0
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*.jsonl
- config_name: multilingual
  data_files:
  - split: fr
    path: "multilingual/**/fr*.jsonl"
---
# EvoWeb
`;
const repo: HubRepo = {
  name: NAME,
  commit: COMMIT,
  files: {
    "README.md": card,
    "data/test-1.jsonl": rows("a", "b"),
    "data/test-2.jsonl": rows("c"),
    "multilingual/x/fr.jsonl": rows("a"),
    "other.jsonl": "no row\n",
  },
  large: ["data/test-2.jsonl"],
};
const cached = (cacheDir: string): string => path.join(cacheDir, "datasets--TD-Labs--EvoWeb");

async function blobsIn(cacheDir: string): Promise<readonly string[]> {
  return readdir(path.join(cached(cacheDir), "blobs")).catch(() => []);
}

test("a split is opened with its shards in order, and says its commit", async () => {
  const hub = await startHub(repo);
  const access = { url: hub.url, cacheDir: await makeTempFolder() };
  const dataset = await openDataset(NAME, { hub: access });
  expect(dataset).toMatchObject({ name: NAME, config: "default", split: "test", revision: COMMIT, dir: null });
  expect(dataset.rows.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  const french = await openDataset(NAME, { hub: access, split: "fr" });
  expect(french).toMatchObject({ config: "multilingual", split: "fr" });
  expect(french.contentHash).not.toBe(dataset.contentHash);
  expect(hub.requests.some((request) => request.includes("other.jsonl"))).toBe(false);
  await expect(openDataset(NAME, { hub: access, split: "xx" })).rejects.toThrow("multilingual (fr)");
  await expect(openDataset(NAME, { hub: access, config: "zz" })).rejects.toMatchObject({ code: "usage" });
  await expect(openDataset(NAME, { hub: access, revision: "nope" })).rejects.toThrow('no revision "nope"');
});

test("the content hash of hub rows is that of the same rows in a file", async () => {
  const hub = await startHub(repo);
  const file = path.join(await makeTempFolder(), "all.jsonl");
  await writeFile(file, rows("a", "b", "c"));
  const { contentHash } = await openDataset(NAME, { hub: { url: hub.url, cacheDir: await makeTempFolder() } });
  expect((await openDataset(file)).contentHash).toBe(contentHash);
});

test("the cache has Python's layout: blobs by hash, links in snapshots, refs", async () => {
  const hub = await startHub(repo);
  const cacheDir = await makeTempFolder();
  await pullDataset(NAME, { hub: { url: hub.url, cacheDir } });
  expect(await readFile(path.join(cached(cacheDir), "refs/main"), "utf8")).toBe(COMMIT);
  const link = await readlink(path.join(cached(cacheDir), "snapshots", COMMIT, "data/test-2.jsonl"));
  expect(link).toMatch(/^\.\.\/\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/);
  expect(await readFile(path.join(cached(cacheDir), "snapshots", COMMIT, "data/test-1.jsonl"), "utf8")).toBe(
    rows("a", "b"),
  );
});

test("after one pull a pinned revision needs no hub, and a branch needs none with the offline switch", async () => {
  const hub = await startHub(repo);
  const access = { url: hub.url, cacheDir: await makeTempFolder() };
  const { commit, splits } = await pullDataset(NAME, { hub: access });
  expect(splits.map(({ config, split }) => `${config}/${split}`)).toEqual(["default/test", "multilingual/fr"]);
  await hub.close();
  const count = hub.requests.length;
  const options = { hub: access, revision: commit, split: "fr" };
  expect((await openDataset(NAME, options)).rows.map(({ id }) => id)).toEqual(["a"]);
  expect((await openDataset(NAME, { hub: { ...access, isOffline: true } })).revision).toBe(COMMIT);
  expect((await validateDataset(NAME, { ...options, against: NAME })).faults[0]?.message).toBe("is missing here");
  expect(hub.requests.length).toBe(count);
});

test("offline without a pull says how to pull; a half snapshot of another program is not a data set", async () => {
  const cacheDir = await makeTempFolder();
  const hub = { url: "http://127.0.0.1:9", cacheDir, isOffline: true };
  await expect(openDataset(NAME, { hub })).rejects.toThrow(`evoweb dataset pull ${NAME}`);
  const bytes = rows("a");
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha1")
    .update(`blob ${Buffer.byteLength(bytes)}\0`)
    .update(bytes)
    .digest("hex");
  const data = path.join(cached(cacheDir), "snapshots", COMMIT, "data");
  await mkdir(data, { recursive: true });
  await mkdir(path.join(cached(cacheDir), "blobs"));
  await writeFile(path.join(cached(cacheDir), "blobs", hash), bytes);
  await symlink(`../../../blobs/${hash}`, path.join(data, "test-00000-of-00002.jsonl"));
  await expect(openDataset(NAME, { hub, revision: COMMIT })).rejects.toThrow("not complete");
  await symlink(`../../../blobs/${hash}`, path.join(data, "test-00001-of-00002.jsonl"));
  await expect(openDataset(NAME, { hub, revision: COMMIT })).rejects.toThrow("the id is already used");
  await rm(path.join(data, "test-00001-of-00002.jsonl"));
});

test("eight processes that pull one file make one good file with one download", async () => {
  const hub = await startHub(repo);
  const cacheDir = await makeTempFolder();
  const program = path.resolve("tests/dataset/hub/pull-process.ts");
  const args = ["--import", "tsx", program, hub.url, cacheDir, NAME, "test"];
  const pulls = Array.from({ length: 8 }, () => promisify(execFile)(process.execPath, args, { timeout: 50_000 }));
  // Nothing but the program's own line: the client's notes never reach standard output.
  for (const { stdout } of await Promise.all(pulls)) expect(stdout).toBe(COMMIT);
  expect((await blobsIn(cacheDir)).length).toBe(3);
  // One probe and one download.
  expect(hub.requests.filter((request) => request.endsWith("data/test-1.jsonl")).length).toBe(2);
  expect(await readdir(path.join(cacheDir, ".locks/datasets--TD-Labs--EvoWeb"))).toEqual([]);
});

test("a body that is cut, longer, or of the right size but other is refused and never cached", async () => {
  const whole = Buffer.from(rows("a", "b"));
  const bodies = [whole.subarray(0, 100), Buffer.concat([whole, whole]), Buffer.alloc(whole.length, 32)];
  for (const body of bodies) {
    const hub = await startHub({
      ...repo,
      spoil: (request, response) => {
        if (request.url?.includes("/resolve/") !== true || !request.url.endsWith("test-1.jsonl")) return false;
        response.setHeader("etag", '"e"');
        if (request.headers.range === undefined) response.end(body);
        else response.writeHead(206, { "content-range": `bytes 0-0/${whole.length}` }).end("{");
        return true;
      },
    });
    const cacheDir = await makeTempFolder();
    await expect(openDataset(NAME, { hub: { url: hub.url, cacheDir } })).rejects.toThrow("did not arrive whole");
    // Only the card.
    expect((await blobsIn(cacheDir)).length).toBe(1);
  }
});

test("a connection that breaks in the body is tried again, and the file arrives", async () => {
  let breaks = 1;
  const hub = await startHub({
    ...repo,
    spoil: (request, response) => {
      if (request.url?.endsWith("test-1.jsonl") !== true || request.headers.range !== undefined || breaks === 0) {
        return false;
      }
      breaks -= 1;
      response.writeHead(200, { "content-length": Buffer.byteLength(rows("a", "b")), etag: '"e"' });
      response.write("{", () => response.destroy());
      return true;
    },
  });
  const dataset = await openDataset(NAME, { hub: { url: hub.url, cacheDir: await makeTempFolder() } });
  expect(dataset.rows.length).toBe(3);
});

test("a poisoned file in the cache is replaced, not used", async () => {
  const hub = await startHub(repo);
  const cacheDir = await makeTempFolder();
  const access = { url: hub.url, cacheDir };
  await pullDataset(NAME, { hub: access });
  for (const blob of await blobsIn(cacheDir)) await writeFile(path.join(cached(cacheDir), "blobs", blob), "half");
  expect((await openDataset(NAME, { hub: access, revision: COMMIT })).rows.length).toBe(3);
});

test("429 with Retry-After is waited for and then works, with a few requests only", async () => {
  let refusals = 2;
  const hub = await startHub({
    ...repo,
    spoil: (request, response) => {
      if (request.url?.includes("/resolve/") !== true || refusals === 0) return false;
      refusals -= 1;
      response.writeHead(429, { "retry-after": "1" }).end("Too Many Requests");
      return true;
    },
  });
  const access = { url: hub.url, cacheDir: await makeTempFolder() };
  expect((await openDataset(NAME, { hub: access, split: "fr" })).rows.length).toBe(1);
  expect(hub.requests.length).toBe(8);
});

test("a wait longer than the limit of the pull ends at once and says how long the hub asks for", async () => {
  const hub = await startHub({
    ...repo,
    spoil: (_request, response) => {
      response.writeHead(429, { "retry-after": "3600" }).end();
      return true;
    },
  });
  const access = { url: hub.url, cacheDir: await makeTempFolder(), timeoutMs: 30_000 };
  await expect(openDataset(NAME, { hub: access })).rejects.toThrow("wait 3600 s");
  expect(hub.requests.length).toBe(1);
});

test("a gated data set is named with what to do, and the token is in no message and no file", async () => {
  const token = "hf_madeUpTokenOfATest";
  const spoil: HubRepo["spoil"] = (request, response) => {
    if (request.url?.includes("/resolve/") !== true) return false;
    refuse(response, request.headers.authorization === undefined ? 401 : 403, "GatedRepo");
    return true;
  };
  const hub = await startHub({ ...repo, spoil });
  const cacheDir = await makeTempFolder();
  await expect(openDataset(NAME, { hub: { url: hub.url, cacheDir } })).rejects.toThrow("gated, and no token is set");
  const refused = await openDataset(NAME, { hub: { url: hub.url, cacheDir, token } }).catch(String);
  expect(refused).toContain("HF_TOKEN has no access");
  expect(refused).toContain(`${hub.url}/datasets/${NAME}`);
  expect(refused).not.toContain(token);
  expect(hub.authorizations.at(-1)).toBe(`Bearer ${token}`);
});

test("the token does not follow a redirect to another server", async () => {
  const store = await startHub({ ...repo, name: "x/y" });
  const hub = await startHub({
    ...repo,
    spoil: (request, response) => {
      if (request.url?.includes("/resolve/") !== true) return false;
      const place = request.url.replace(`/datasets/${NAME}/`, "/datasets/x/y/");
      response.writeHead(302, { location: `${store.url}${place}` }).end();
      return true;
    },
  });
  const access = { url: hub.url, cacheDir: await makeTempFolder(), token: "hf_madeUpTokenOfATest" };
  expect((await openDataset(NAME, { hub: access })).rows.length).toBe(3);
  expect(new Set(store.authorizations)).toEqual(new Set([undefined]));
});

test("a missing data set, and a hub that is not there, are named in seconds", async () => {
  const hub = await startHub(repo);
  const cacheDir = await makeTempFolder();
  const access = { url: hub.url, cacheDir };
  await expect(openDataset("TD-Labs/Nothing", { hub: access })).rejects.toThrow("there is no dataset TD-Labs/Nothing");
  await hub.close();
  const opened = openDataset(NAME, { hub: { ...access, timeoutMs: 2000 } });
  await expect(opened).rejects.toMatchObject({ code: "dataset" });
  await expect(opened).rejects.toThrow("cannot be reached");
});

test("a signal ends a pull while it waits", async () => {
  const stop = new AbortController();
  const hub = await startHub({
    ...repo,
    spoil: (_request, response) => {
      response.writeHead(429, { "retry-after": "60" }).end();
      setImmediate(() => stop.abort());
      return true;
    },
  });
  const access = { url: hub.url, cacheDir: await makeTempFolder() };
  await expect(openDataset(NAME, { hub: access, signal: stop.signal })).rejects.toThrow("was stopped");
});
