import { opendirSync } from "node:fs";
import { join } from "node:path";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError, messageOf } from "../errors.ts";
import type { AppBuckets } from "./app-buckets.ts";
import type { ProblemList } from "./problems.ts";

/** Folders of checks as Bolt.diy, OpenHands and Aider runs name them. */
export const WEBVOYAGER_PATTERN = String.raw`(?:^|/)task(?:(?<id>\d{6})|(?:workspace|task)_(?<index>\d+))_(?<check>\d+)$`;

/** The same below a folder for each request, such as `request-02/results/task000001_0`. */
export const SEQUENCE_PATTERN = String.raw`(?:^|/)request[-_]?(?<request>\d+)/(?:.*/)?task(?:(?<id>\d{6})|(?:workspace|task)_(?<index>\d+))_(?<check>\d+)$`;

/** What to look for, and where. */
export interface FolderSearch {
  readonly source: string;
  /** Matches paths of check folders relative to the source; groups as for `compilePattern`. */
  readonly pattern: RegExp;
  readonly rows: readonly SampledRow[];
  readonly problems: ProblemList;
}

/** A check folder that was found, as kept in the buckets of its app. */
export interface FoundFolder {
  readonly request: number;
  readonly check: number;
  readonly path: string;
}

const MAX_DEPTH = 8;

/**
 * Compiles a pattern whose named groups say which check a folder is about: `check` (0-based), `request` (1-based; absent means 1), and
 * `sampleIndex` (1-based), `index` (0-based) or `id`. Throws `usage`.
 */
export function compilePattern(source: string): RegExp {
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, "u");
  } catch (error) {
    throw new EvowebError("usage", `--pattern is no regular expression: ${messageOf(error)}`, { cause: error });
  }
  const has = (name: string): boolean => source.includes(`(?<${name}>`);
  if (has("check") && (has("id") || has("index") || has("sampleIndex"))) return pattern;
  const needed = "(?<check>...) and one of (?<sampleIndex>...), (?<index>...) and (?<id>...)";
  throw new EvowebError("usage", `--pattern "${source}" must have the named groups ${needed}`);
}

type Places = ReadonlyMap<string, SampledRow>;

/** Rows by what may name them: "id:000001" and "at:1". */
function placesOf(rows: readonly SampledRow[]): Places {
  return new Map(
    rows.flatMap((sampled) => [
      [`at:${sampled.sampleIndex}`, sampled] as const,
      [`id:${sampled.row.id}`, sampled] as const,
    ]),
  );
}

type Groups = Readonly<Record<string, string | undefined>>;

function rowOf({ sampleIndex, index, id }: Groups, places: Places): SampledRow | undefined {
  if (sampleIndex !== undefined) return places.get(`at:${Number(sampleIndex)}`);
  if (index !== undefined) return places.get(`at:${Number(index) + 1}`);
  // Published runs number their apps by id; rows with ids of another form are meant by their position.
  return places.get(`id:${id}`) ?? places.get(`at:${Number(id)}`);
}

/** Names of the folders below `path`; a million of them are not held at once. */
function* folderNames(search: FolderSearch, path: string): Generator<string> {
  try {
    using dir = opendirDisposable(join(search.source, path));
    for (let entry = dir.read(); entry !== null; entry = dir.read()) if (entry.isDirectory()) yield entry.name;
  } catch (error) {
    search.problems.add({ kind: "unreadable", file: path === "" ? "." : path, text: messageOf(error) });
  }
}

function opendirDisposable(path: string) {
  const dir = opendirSync(path, { bufferSize: 1024 });
  return { read: () => dir.readSync(), [Symbol.dispose]: () => dir.closeSync() };
}

class Finder {
  found = 0;
  private readonly search: FolderSearch;
  private readonly buckets: AppBuckets;
  private readonly places: Places;

  constructor(search: FolderSearch, buckets: AppBuckets) {
    this.search = search;
    this.buckets = buckets;
    this.places = placesOf(search.rows);
  }

  walk(path: string, depth: number): void {
    for (const name of folderNames(this.search, path)) {
      const below = path === "" ? name : `${path}/${name}`;
      const match = this.search.pattern.exec(below);
      if (match !== null) this.keep(below, match.groups ?? {});
      else if (depth < MAX_DEPTH) this.walkUnnamed(below, name, depth);
    }
  }

  private walkUnnamed(path: string, name: string, depth: number): void {
    if (/^task./u.test(name)) {
      this.search.problems.add({ kind: "unknown_folder", file: path, text: "its name says no check of any row" });
    }
    this.walk(path, depth + 1);
  }

  private keep(path: string, groups: Groups): void {
    const request = Number(groups["request"] ?? 1);
    const check = Number(groups["check"]);
    const sampled = rowOf(groups, this.places);
    if (sampled?.row.requests[request - 1]?.checks[check] === undefined) {
      this.search.problems.add({ kind: "not_planned", file: path, text: "the rows have no such check; left out" });
      return;
    }
    this.found += 1;
    this.buckets.add(sampled.sampleIndex, JSON.stringify({ request, check, path } satisfies FoundFolder));
  }
}

/** Looks for the folders of checks and sorts them by app; gives how many there are. Links are not followed. */
export function findCheckFolders(search: FolderSearch, buckets: AppBuckets): number {
  const finder = new Finder(search, buckets);
  finder.walk("", 0);
  return finder.found;
}
