import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { EvowebError, messageOf } from "../errors.ts";
import { chooseSplit, type WantedSplit } from "./choose-split.ts";
import type { HubAccess } from "./hub/hub-access.ts";
import { pullHub } from "./hub/pull-hub.ts";
import { findTranslations, readTranslation } from "./translations.ts";

/** Where the rows of a data set come from. */
export interface SourceOptions extends WantedSplit {
  /** Branch, tag or commit of a data set on the Hub; absent: `main`. */
  readonly revision?: string;
  /** How the Hub is reached; absent: the public one without a token. */
  readonly hub?: HubAccess;
  readonly signal?: AbortSignal;
}

/** Rows that were found, not yet read. */
export interface Location {
  readonly name: string;
  readonly dir: string | null;
  /** A file, a folder with `rows.jsonl`, or the files of a split in their order. */
  readonly source: string | readonly string[];
  /** Null for a file. */
  readonly config: string | null;
  readonly split: string | null;
  /** The commit of a data set on the Hub, else null. */
  readonly revision: string | null;
  readonly translate: ((raw: unknown) => unknown) | undefined;
}

/** Data sets that come with evoweb; the folder lies beside `src` and beside `dist`. */
export const builtInFolder = fileURLToPath(new URL("../../datasets/", import.meta.url));

/**
 * Finds a built-in data set by its name, a file or folder by its path, or `owner/name` on the Hub, in this order; what the Hub
 * has is pulled.
 *
 * @throws EvowebError `dataset` when there is no such thing, `usage` for a configuration, split or revision it cannot have.
 */
export async function locateRows(nameOrPath: string, options: SourceOptions): Promise<Location> {
  if (nameOrPath === "") throw new EvowebError("usage", "the name or path of the dataset is empty");
  const names = await builtInNames();
  if (names.includes(nameOrPath)) return inFolder(nameOrPath, path.join(builtInFolder, nameOrPath), options);
  const info = await stat(nameOrPath).catch((error: unknown) => {
    const isAbsent = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    if (isAbsent && isHubName(nameOrPath)) return null;
    const known = `built-in datasets: ${names.length === 0 ? "none" : names.join(", ")}`;
    const what = isAbsent ? `there is no file or folder ${path.resolve(nameOrPath)}` : messageOf(error);
    throw new EvowebError("dataset", `no dataset "${nameOrPath}": ${what}; ${known}`, { cause: error });
  });
  if (info === null) return onHub(nameOrPath, options);
  const absolute = path.resolve(nameOrPath);
  if (info.isDirectory()) return inFolder(path.basename(absolute), absolute, options);
  for (const flag of ["config", "split", "revision"] as const) {
    if (options[flag] !== undefined) throw new EvowebError("usage", `--${flag}: ${nameOrPath} is one file of rows`);
  }
  const dir = path.dirname(absolute);
  const name = path.basename(absolute).replace(/\.(jsonl?|parquet)$/, "");
  const plain = { source: nameOrPath, config: null, split: null, revision: null, translate: undefined };
  if (!name.startsWith("rows")) return { name, dir: null, ...plain };
  return { name: name === "rows" ? path.basename(dir) : name, dir, ...plain };
}

/** Whether a name can only be a data set on the Hub, as far as its form says: `owner/name`. */
export function isHubName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(name) && !/\.(jsonl?|parquet)$/.test(name);
}

async function builtInNames(): Promise<readonly string[]> {
  const entries = await readdir(builtInFolder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function inFolder(name: string, dir: string, options: SourceOptions): Promise<Location> {
  if (options.revision !== undefined) {
    const message = `--revision: ${name} is a folder here and has no revisions; only datasets of the Hub have`;
    throw new EvowebError("usage", message);
  }
  const splits = await findTranslations(dir);
  const { config, split, file } = chooseSplit(name, { splits, defaultConfig: "default" }, options);
  const translate = file === null ? undefined : await readTranslation(file);
  return { name, dir, source: dir, config, split, revision: null, translate };
}

async function onHub(repo: string, { config, split, revision, hub, signal }: SourceOptions): Promise<Location> {
  const request = {
    repo,
    access: hub ?? {},
    ...(config === undefined ? {} : { config }),
    ...(split === undefined ? {} : { split }),
    ...(revision === undefined ? {} : { revision }),
    ...(signal === undefined ? {} : { signal }),
  };
  const { commit, splits } = await pullHub(request, false);
  const [chosen] = splits;
  if (chosen === undefined) throw new EvowebError("bug", `no split of ${repo} was chosen`);
  const { files } = chosen;
  return {
    name: repo,
    dir: null,
    source: files,
    config: chosen.config,
    split: chosen.split,
    revision: commit,
    translate: undefined,
  };
}
