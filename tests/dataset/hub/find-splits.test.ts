import { expect, test } from "vitest";
import { findSplits } from "../../../src/dataset/hub/find-splits.ts";
import { globPattern } from "../../../src/dataset/hub/glob-pattern.ts";

const front = (yaml: string): string => `---\n${yaml}\n---\n# A card\n`;
const splits = (card: string | undefined, ...paths: readonly string[]): readonly string[] =>
  findSplits("a/b", card, paths).splits.map(({ config, split, files }) => `${config}/${split}: ${files.join(" ")}`);

test.each([
  ["data/test-*.jsonl", "data/test-1.jsonl", true],
  ["data/*.jsonl", "data/x/test.jsonl", false],
  ["**/fr.jsonl", "fr.jsonl", true],
  ["**/fr.jsonl", "a/b/fr.jsonl", true],
  ["**/fr.jsonl", "a/xfr.jsonl", false],
  ["data/**", "data/a/b.json", true],
  ["f?.json", "fr.json", true],
  ["f?.json", "fr-json", false],
  ["x-[0-9][0-9].json", "x-07.json", true],
  ["[!a]x.json", "ax.json", false],
  ["{fr,de*}.json", "de2.json", true],
  ["{fr,de*}.json", "fr2.json", false],
  ["a+(b).json", "a+(b).json", true],
])("the pattern %s and the path %s: %s", (glob, path, fits) => {
  expect(globPattern(glob).test(path)).toBe(fits);
});

test("the card's front matter decides: lists, one pattern, by split, a folder, a default", () => {
  const card = front(`configs:
- config_name: one
  data_files: "one/*.jsonl"
- config_name: many
  default: true
  data_files:
  - split: test
    path: ["b.jsonl", "a.jsonl"]
- config_name: map
  data_files: { fr: "x/fr*.parquet" }
- config_name: dir
  data_dir: d
`);
  const paths = [
    "a.jsonl",
    "b.jsonl",
    "one/2.jsonl",
    "one/1.jsonl",
    "x/fr-2.parquet",
    "x/fr-1.parquet",
    "d/test.jsonl",
  ];
  expect(splits(card, ...paths)).toEqual([
    "one/train: one/1.jsonl one/2.jsonl",
    "many/test: b.jsonl a.jsonl",
    "map/fr: x/fr-1.parquet x/fr-2.parquet",
    "dir/test: d/test.jsonl",
  ]);
  expect(findSplits("a/b", card, paths).defaultConfig).toBe("many");
});

test("a card without configs leaves it to the file names; a broken one is an error", () => {
  expect(splits(front("license: mit"), "test.jsonl")).toEqual(["default/test: test.jsonl"]);
  expect(splits("# no front matter", "test.jsonl")).toEqual(["default/test: test.jsonl"]);
  expect(() => splits(front("configs: [}"), "test.jsonl")).toThrow("front matter");
  expect(() => splits(front("configs: 3"), "test.jsonl")).toThrow("front matter");
});

test.each([
  [
    ["data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet", "notes.json"],
    ["default/test: data/test-00000-of-00002.parquet data/test-00001-of-00002.parquet"],
  ],
  [
    ["multilingual/fr-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"],
    ["default/test: data/test-00000-of-00001.parquet", "multilingual/fr: multilingual/fr-00000-of-00001.parquet"],
  ],
  [
    ["multilingual/he/0000.parquet", "multilingual/he/0001.parquet"],
    ["multilingual/he: multilingual/he/0000.parquet multilingual/he/0001.parquet"],
  ],
  [
    ["test/a.jsonl", "training/b.jsonl", "c.jsonl"],
    ["default/test: test/a.jsonl", "default/train: training/b.jsonl"],
  ],
  [
    ["my_test-1.jsonl", "dev.jsonl", "contest.jsonl"],
    ["default/validation: dev.jsonl", "default/test: my_test-1.jsonl"],
  ],
  [["b.jsonl", "a.jsonl", ".hidden/test.jsonl", "dataset_infos.json", "x.csv"], ["default/train: a.jsonl b.jsonl"]],
])("without a card %j are the splits %j", (paths, expected) => {
  expect(splits(undefined, ...paths)).toEqual(expected);
});
