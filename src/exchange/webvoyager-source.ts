import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import type { RequestObservations } from "../trace/observations.ts";
import { AppBuckets } from "./app-buckets.ts";
import { readCheckFolder } from "./check-folder.ts";
import { findCheckFolders } from "./find-check-folders.ts";
import type { FolderSearch, FoundFolder } from "./find-check-folders.ts";
import type { ImportSource } from "./import-source.ts";
import type { ImportedCheck } from "./write-app.ts";

/** What to import from a tree of check folders. */
export interface WebvoyagerSearch extends FolderSearch {
  readonly withScreenshots: boolean;
  /** True to write that every agent answered, which such a tree does not say. */
  readonly assumeResponded: boolean;
}

const NO_RULES = { legacy: "MISSING", strict: "MISSING" } as const;
// The published scoring counts it as failed to start: nothing was judged because no address of the app was found.
const NOT_STARTED: ImportedCheck = { verdict: "NO", cause: "app_down", rules: NO_RULES };
const NOT_REACHED: ImportedCheck = { verdict: "MISSING", cause: "not_reached", rules: NO_RULES };

function isFound(value: unknown): value is FoundFolder {
  return typeof value === "object" && value !== null && "path" in value;
}

/** By request, then check; of two folders about one check the last by name counts, which is the later of two dated runs. */
function sortFolders(records: readonly string[], search: WebvoyagerSearch): Map<number, Map<number, string>> {
  const sorted = new Map<number, Map<number, string>>();
  for (const record of records) {
    const folder: unknown = JSON.parse(record);
    if (!isFound(folder)) continue;
    const checks = sorted.get(folder.request) ?? new Map<number, string>();
    sorted.set(folder.request, checks);
    const other = checks.get(folder.check);
    const kept = other === undefined || folder.path > other ? folder.path : other;
    checks.set(folder.check, kept);
    if (other === undefined) continue;
    const dropped = kept === other ? folder.path : other;
    search.problems.add({ kind: "repeated", file: dropped, text: `${kept} is about the same check and counts` });
  }
  return sorted;
}

function isUp(checks: readonly ImportedCheck[]): boolean | null {
  // A conversation shows that the site was opened, whatever came of it, and a damaged one was there too.
  if (checks.some(({ rules, class: name }) => rules?.["legacy"] !== "MISSING" || name === "disk")) return true;
  return checks.length > 0 && checks.every(({ cause }) => cause === "app_down") ? false : null;
}

function observeRequest(
  checkCount: number,
  folders: ReadonlyMap<number, string>,
  search: WebvoyagerSearch,
): RequestObservations {
  const checks = new Map<number, ImportedCheck>();
  for (let check = 0; check < checkCount; check += 1) {
    const path = folders.get(check);
    const absent = folders.size === 0 ? NOT_STARTED : NOT_REACHED;
    checks.set(check, path === undefined ? absent : readCheckFolder({ ...search, path }));
  }
  const responded = search.assumeResponded ? true : null;
  return { state: "run", responded, up: isUp([...checks.values()]), checks };
}

/**
 * Opens a tree of check folders. A request of which an app left no folder is one that did not start, provided that another app left
 * one for it. Throws `usage` when there is no check folder at all.
 */
export function openWebvoyager(search: WebvoyagerSearch): ImportSource {
  const buckets = new AppBuckets();
  const found = findCheckFolders(search, buckets);
  if (found === 0) {
    buckets[Symbol.dispose]();
    const advice = `No folder there matches ${search.pattern.source} and a check of the rows.`;
    throw new EvowebError("usage", `${search.source} holds no results. ${advice}`);
  }
  const judgedRequests = new Set(
    search.rows.flatMap(({ sampleIndex }) => [...sortRequests(buckets.take(sampleIndex))]),
  );
  return {
    planned: search.rows,
    isolation: null,
    observation: "locf",
    read({ sampleIndex, row }: SampledRow) {
      const folders = sortFolders(buckets.take(sampleIndex), search);
      const requests = new Map<number, RequestObservations>();
      for (const { number, checks } of row.requests) {
        if (!judgedRequests.has(number)) continue;
        requests.set(number, observeRequest(checks.length, folders.get(number) ?? new Map(), search));
      }
      return { sampleIndex, requests, sweep: null };
    },
    [Symbol.dispose]: () => buckets[Symbol.dispose](),
  };
}

function sortRequests(records: readonly string[]): Set<number> {
  return new Set(records.map((record) => Number(/"request":(\d+)/u.exec(record)?.[1])));
}
