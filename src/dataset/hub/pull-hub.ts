// What a data set of the Hugging Face Hub holds, brought to this machine: commit, list of files, splits, verified files.
import { setTimeout as wait } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import { datasetInfo, downloadFile, HUB_URL, listFiles } from "@huggingface/hub";
import { EvowebError, messageOf } from "../../errors.ts";
import { chooseSplit, type WantedSplit } from "../choose-split.ts";
import { lockFile } from "./file-lock.ts";
import { findSplits, type SplitFiles } from "./find-splits.ts";
import { cacheDirOf, type HubAccess } from "./hub-access.ts";
import { faultOf, hasRealHash, HubCache, HubFile } from "./hub-cache.ts";
import { createHubFetch } from "./hub-fetch.ts";
import { stopOf } from "./refusal.ts";

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const DOWNLOAD_TRIES = 3;
const PAUSE_MS = 200;

/** What is wanted of a repository. */
export interface HubRequest extends WantedSplit {
  /** "owner/name". */
  readonly repo: string;
  /** Branch, tag or commit; absent: `main`. */
  readonly revision?: string;
  readonly access: HubAccess;
  readonly signal?: AbortSignal;
}

/** What is on this machine now. */
export interface PulledHub {
  readonly repo: string;
  /** The commit; given as `revision`, it is read without any request from now on. */
  readonly commit: string;
  /** The commit's folder in the cache. */
  readonly dir: string;
  /** The chosen splits, with absolute paths of their files. */
  readonly splits: readonly SplitFiles[];
  readonly sizeBytes: number;
}

/**
 * Pulls one split, or with `isWhole` every split of the wanted configuration (of all, when none is named).
 *
 * @throws EvowebError `dataset` when the hub refuses, cannot be reached or sends something else than it lists; `usage` for a
 * configuration or split that does not exist. Each says what to do.
 */
export async function pullHub(request: HubRequest, isWhole: boolean): Promise<PulledHub> {
  const pull = openPull(request);
  const commit = await findCommit(pull);
  const listed = await listCommit(pull, commit);
  const paths = listed.map((file) => file.path);
  // A hub without real hashes is a plain mirror: a card that cannot be verified decides nothing.
  const readme = listed.find((file) => file.path === "README.md" && hasRealHash(file.hash));
  const card = readme === undefined ? undefined : await readFile(await pullFile(pull, commit, readme), "utf8");
  const found = findSplits(request.repo, card, paths);
  const chosen = isWhole ? wholeOf(request, found.splits) : [chooseSplit(request.repo, found, request)];
  const files = listed.filter(({ path }) => chosen.some((split) => split.files.includes(path)));
  const places = new Map<string, string>();
  for (const file of files) places.set(file.path, await pullFile(pull, commit, file));
  const splits = chosen.map((split) => ({ ...split, files: split.files.map((name) => places.get(name) ?? name) }));
  const empty = splits.find((split) => split.files.length === 0);
  if (empty !== undefined) {
    throw fault(pull, `split ${empty.split} of ${empty.config} names no file that exists at commit ${commit}`);
  }
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return { repo: request.repo, commit, dir: pull.cache.snapshot(commit), splits, sizeBytes };
}

function wholeOf(request: HubRequest, splits: readonly SplitFiles[]): readonly SplitFiles[] {
  if (request.split !== undefined) return [chooseSplit(request.repo, { splits }, request)];
  const wanted = splits.filter(({ config }) => request.config === undefined || config === request.config);
  return wanted.length === 0 ? [chooseSplit(request.repo, { splits }, request)] : wanted;
}

interface Pull {
  readonly repo: string;
  readonly revision: string;
  readonly cache: HubCache;
  readonly isOffline: boolean;
  /** The caller's signal and the limit of the whole pull. */
  readonly signal: AbortSignal;
  readonly url: string;
  readonly client: { readonly hubUrl: string; readonly fetch: typeof fetch };
}

function openPull({ repo, revision = "main", access, signal }: HubRequest): Pull {
  const url = (access.url ?? HUB_URL).replace(/\/+$/, "");
  if (!URL.canParse(url)) throw new EvowebError("usage", `HF_ENDPOINT "${url}" is no address such as http://host:port`);
  const asked = { repo, url, revision, ...(access.token === undefined ? {} : { token: access.token }) };
  const timeoutMs = access.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const endMs = Date.now() + timeoutMs;
  const limit = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const online = createHubFetch({ ...asked, endMs, signal: ending });
  const cache = new HubCache(cacheDirOf(access), repo);
  const offline = (): Promise<Response> => {
    const message = `dataset ${repo} at ${revision} is not complete in ${cache.folder}, and HF_HUB_OFFLINE forbids requests`;
    const hint = `run "evoweb dataset pull ${repo} --revision ${revision}" once without it`;
    throw new EvowebError("dataset", `${message}; ${hint}`);
  };
  const isOffline = access.isOffline === true;
  const client = { hubUrl: url, fetch: isOffline ? offline : online };
  return { repo, revision, cache, isOffline, signal: ending, url, client };
}

async function findCommit(pull: Pull): Promise<string> {
  const { repo, revision, cache, isOffline, client } = pull;
  if (/^[0-9a-f]{40}$/.test(revision)) return revision;
  if (isOffline) {
    const known = await cache.readRef(revision);
    if (known !== null) return known;
  }
  const info = await speak(pull, () => datasetInfo({ ...client, name: repo, revision, additionalFields: ["sha"] }));
  const { sha } = info as { readonly sha?: unknown };
  if (typeof sha !== "string" || !/^[0-9a-f]{4,64}$/.test(sha)) throw fault(pull, "the hub names no commit");
  await cache.writeRef(revision, sha);
  return sha;
}

async function listCommit(pull: Pull, commit: string): Promise<readonly HubFile[]> {
  const { repo, cache, isOffline, client } = pull;
  const known = await cache.readListing(commit);
  if (known !== null) return known;
  if (isOffline) {
    const others = await cache.listSnapshot(commit);
    if (others.length > 0 && hasAllParts(others)) return others;
  }
  const files = await speak(pull, async () => {
    const entries: unknown[] = [];
    const listing = listFiles({ ...client, repo: { type: "dataset", name: repo }, revision: commit, recursive: true });
    for await (const { type, path, size, oid, lfs } of listing) {
      if (type === "file") entries.push({ path, sizeBytes: lfs?.size ?? size, hash: lfs?.oid ?? oid });
    }
    return entries.map((entry) => HubFile.parse(entry));
  });
  await cache.writeListing(commit, files);
  return files;
}

// Another program may have stopped half-way; file names such as x-00000-of-00002 say how many there have to be.
function hasAllParts(files: readonly HubFile[]): boolean {
  return files.every(({ path }) => {
    const [, before, count] = /^(.*)-\d{5}-of-(\d{5})/.exec(path) ?? [];
    if (before === undefined) return true;
    return files.filter((other) => other.path.startsWith(`${before}-`)).length >= Number(count);
  });
}

async function pullFile(pull: Pull, commit: string, file: HubFile): Promise<string> {
  const { cache, signal, isOffline } = pull;
  const there = await cache.find(commit, file);
  if (there !== null) return there;
  await using _lock = isOffline
    ? null
    : await lockFile(cache.lock(file), signal).catch((error: unknown) => {
        throw signal.aborted ? stopOf(pull, error) : error;
      });
  await cache.linkBlob(commit, file);
  if ((await cache.find(commit, file)) === null) await cache.store(commit, file, await download(pull, commit, file));
  const place = await cache.find(commit, file);
  if (place === null) throw fault(pull, `${file.path} was stored in ${cache.folder} and is not what was written`);
  return place;
}

async function download(pull: Pull, commit: string, file: HubFile): Promise<Buffer> {
  const { repo, client, signal } = pull;
  const from = { ...client, repo: { type: "dataset", name: repo }, revision: commit, path: file.path } as const;
  for (let attempt = 1; ; attempt += 1) {
    const result = await speak(pull, () => downloadFile(from))
      .then(async (blob) => (blob === null ? "no such file" : Buffer.from(await blob.arrayBuffer())))
      .catch((error: unknown) => {
        if (signal.aborted) throw stopOf(pull, error);
        if (error instanceof EvowebError) throw error;
        // The connection was cut in the middle of the body.
        return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
      });
    const wrong = typeof result === "string" ? `the body broke off (${result})` : faultOf(result, file);
    if (typeof result !== "string" && wrong === null) return result;
    if (attempt === DOWNLOAD_TRIES) {
      const where = `${file.path} of dataset ${repo} at ${commit}`;
      const message = `${where} did not arrive whole in ${attempt} tries: ${wrong}; nothing of it was kept, try again later`;
      throw new EvowebError("dataset", message);
    }
    await wait(PAUSE_MS * attempt, undefined, { signal }).catch((error: unknown) => {
      throw stopOf(pull, error);
    });
  }
}

// What the client throws itself, about answers that are not what a hub gives.
async function speak<T>(pull: Pull, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EvowebError) throw error;
    if (pull.signal.aborted) throw stopOf(pull, error);
    throw new EvowebError(
      "dataset",
      `dataset ${pull.repo}: ${pull.client.hubUrl} answers unlike a hub: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

function fault({ repo }: Pull, message: string): EvowebError {
  return new EvowebError("dataset", `dataset ${repo}: ${message}`);
}
