import { parse } from "yaml";
import { z } from "zod";
import { EvowebError } from "../../errors.ts";
import type { Split } from "../choose-split.ts";
import { globPattern } from "./glob-pattern.ts";

/** A split with its files, in the order in which their rows count. */
export interface SplitFiles extends Split {
  readonly files: readonly string[];
}

/** What a repository offers. */
export interface FoundSplits {
  readonly splits: readonly SplitFiles[];
  readonly defaultConfig?: string;
}

const oneOrMany = z.union([z.string(), z.array(z.string())]).transform((paths) => [paths].flat());
const DataFiles = z.union([
  oneOrMany.transform((paths) => [{ split: "train", path: paths }]),
  z.array(z.object({ split: z.string(), path: oneOrMany })),
  z
    .record(z.string(), oneOrMany)
    .transform((bySplit) => Object.entries(bySplit).map(([split, paths]) => ({ split, path: paths }))),
]);
const Config = z.looseObject({
  config_name: z.string().default("default"),
  default: z.boolean().optional(),
  data_dir: z.string().optional(),
  data_files: DataFiles.optional(),
});
const Card = z.looseObject({ configs: z.array(Config).optional() });

const READABLE = /\.(jsonl|ndjson|json|parquet)$/;

/**
 * The splits of a repository: those its card's front matter lists under `configs`, else those its file names follow.
 *
 * @throws EvowebError `dataset` when the front matter cannot be read.
 */
export function findSplits(repo: string, card: string | undefined, paths: readonly string[]): FoundSplits {
  const configs = card === undefined ? undefined : readConfigs(repo, card);
  if (configs === undefined || configs.length === 0) return { splits: byConvention(paths) };
  const splits = configs.flatMap(({ config_name: config, data_dir: dir, data_files: dataFiles }) => {
    const prefix = dir === undefined ? "" : `${dir.replace(/^\.?\/+|\/+$/g, "")}/`;
    if (dataFiles === undefined) {
      const inside = paths.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
      return byConvention(inside).map((found) => ({
        ...found,
        config,
        files: found.files.map((name) => `${prefix}${name}`),
      }));
    }
    return dataFiles.map(({ split, path: globs }) => {
      const files = globs.flatMap((glob) => matching(paths, `${prefix}${glob.replace(/^\.?\//, "")}`));
      return { config, split, files: [...new Set(files)] };
    });
  });
  const marked = configs.find((config) => config.default === true)?.config_name;
  return { splits, ...(marked === undefined ? {} : { defaultConfig: marked }) };
}

function matching(paths: readonly string[], glob: string): readonly string[] {
  // A name may hold what a pattern would read as a sign.
  if (paths.includes(glob)) return [glob];
  const pattern = globPattern(glob);
  return paths.filter((name) => pattern.test(name)).toSorted();
}

function readConfigs(repo: string, card: string): z.infer<typeof Card>["configs"] {
  const [, front] = /^\uFEFF?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s.exec(card) ?? [];
  if (front === undefined) return undefined;
  try {
    return Card.parse(parse(front) ?? {}).configs;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : "";
    throw new EvowebError("dataset", `the front matter of the card (README.md) of ${repo} cannot be read: ${why}`, {
      cause: error,
    });
  }
}

const KEYWORDS = [
  ["train", ["train", "training"]],
  ["validation", ["validation", "valid", "val", "dev"]],
  ["test", ["test", "testing", "eval", "evaluation"]],
] as const;

function byConvention(paths: readonly string[]): readonly SplitFiles[] {
  // Folders with a dot or two underscores in front, and the old file of facts about a data set, hold no rows.
  const files = paths.filter(
    (name) => READABLE.test(name) && !/(^|\/)(\.|__)/.test(name) && !/(^|\/)dataset_infos\.json$/.test(name),
  );
  const rules = [bySharedName, (name: string) => byWord(name, "folder"), (name: string) => byWord(name, "name")];
  for (const rule of rules) {
    const found = files.flatMap((name) => {
      const split = rule(name);
      return split === undefined ? [] : [{ ...split, name }];
    });
    if (found.length > 0) return group(found);
  }
  return group(files.map((name) => ({ config: "default", split: "train", name })));
}

// data/SPLIT-00000-of-00002.parquet, CONFIG/SPLIT-..., and the hub's own export CONFIG/SPLIT/0000.parquet.
function bySharedName(name: string): Split | undefined {
  const match =
    /^(?:([^/]+)\/)?([^/]+)-\d{5}-of-\d{5}[^/]*\.[^/]+$/.exec(name) ?? /^([^/]+)\/([^/]+)\/\d{4}\.parquet$/.exec(name);
  const [, folder = "data", split] = match ?? [];
  return split === undefined ? undefined : { config: folder === "data" ? "default" : folder, split };
}

function byWord(name: string, where: "folder" | "name"): Split | undefined {
  const parts = name.split("/");
  const searched = where === "folder" ? parts.slice(0, -1) : parts.slice(-1);
  // Words stand between signs or digits: "my_test-1.jsonl" is a test, "contest.jsonl" is none.
  const words = searched.flatMap((part) => part.replace(READABLE, "").split(/[\W_\d]+/));
  const found = KEYWORDS.find(([, keywords]) => keywords.some((keyword) => words.includes(keyword)));
  return found === undefined ? undefined : { config: "default", split: found[0] };
}

function group(files: readonly (Split & { readonly name: string })[]): readonly SplitFiles[] {
  const groups = new Map<string, SplitFiles>();
  for (const { config, split, name } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const key = JSON.stringify([config, split]);
    groups.set(key, { config, split, files: [...(groups.get(key)?.files ?? []), name] });
  }
  return [...groups.values()];
}
