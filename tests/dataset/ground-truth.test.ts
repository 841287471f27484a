import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { findingText } from "../../src/dataset/finding.ts";
import type { GroundTruth } from "../../src/dataset/ground-truth.ts";
import { openDataset, validateDataset } from "../../src/dataset/open-dataset.ts";
import { makeTempFolder } from "../temp-folder.ts";
import { sampleRow } from "./sample-row.ts";

// Every test starts processes; on a busy machine that takes seconds.
vi.setConfig({ testTimeout: 60_000 });

type Files = Readonly<Record<string, string | Buffer>>;

/** Patches as an author makes them: git diffs of a real repository, one for each step. */
async function makePatches(steps: readonly Files[]): Promise<readonly string[]> {
  const repository = await makeTempFolder();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repository, encoding: "utf8" });
  git("init", "--quiet");
  const patches: string[] = [];
  for (const step of steps) {
    for (const [name, content] of Object.entries(step)) {
      await mkdir(path.dirname(path.join(repository, name)), { recursive: true });
      const mode = name.endsWith(".sh") ? 0o755 : 0o644;
      await writeFile(path.join(repository, name), content, { mode });
    }
    git("add", "--all");
    patches.push(git("diff", "--cached", "--binary"));
    git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--allow-empty", "--message", "step");
  }
  return patches;
}

const picture = Buffer.from([0, 255, 10, 13, 200, 0]);
const steps: readonly Files[] = [
  { "server.js": "const rate = 2;\nstart();\n", "run.sh": "#!/bin/sh\n", "pub/pixel.png": picture },
  { "server.js": "const rate = 2;\r\nstart();\nlist(); \n" },
  { "server.js": "const rate = 3;\r\nstart();\nlist(); \nsum(); // costs $& and $1\n" },
];

function mutant(fields: object = {}) {
  return {
    id: "m-rate",
    row: "a",
    kind: "wrong total",
    enters: 2,
    edits: [{ file: "server.js", find: "const rate = ", replace: "const rate = 10 * " }],
    changes: [{ request: 2, check: 0, verdict: "NO" }],
    ...fields,
  };
}

const list = mutant({
  id: "m-list",
  edits: [{ file: "server.js", find: "list();", replace: "list('$&');" }],
  leaves: 3,
});

interface Parts {
  readonly mutants?: unknown;
  readonly sets?: unknown;
}

async function makeDataset({ mutants = [mutant()], sets }: Parts = {}): Promise<string> {
  const folder = await makeTempFolder();
  const put = async (name: string, content: string) => {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  };
  await put("rows.jsonl", `${JSON.stringify(sampleRow("a", 3))}\n`);
  for (const [index, patch] of (await makePatches(steps)).entries())
    await put(`solutions/a/0${index + 1}.patch`, patch);
  await put("oracles/a.ts", "export const check = () => [];\n");
  await put("mutants.json", JSON.stringify(mutants));
  if (sets !== undefined) await put("sets.json", JSON.stringify(sets));
  return folder;
}

async function openTruth(folder: string): Promise<GroundTruth> {
  const { truth } = await openDataset(folder);
  if (truth === null) throw new Error("no ground truth");
  return truth;
}

async function textOf(truth: GroundTruth, spec: string, request: number): Promise<string | undefined> {
  return (await truth.replayTree(spec, "a", request)).get("server.js")?.bytes.toString();
}

async function complaints(folder: string): Promise<string[]> {
  const { faults, warnings } = await validateDataset(folder);
  return [...faults, ...warnings].map((finding) => `${finding.severity}: ${findingText(finding)}`);
}

test("a sound data set has nothing to complain about", async () => {
  const folder = await makeDataset({ mutants: [mutant(), list], sets: { both: ["m-rate", "m-list"] } });
  expect(await complaints(folder)).toEqual([]);
});

test("patches build up the tree of each request: bytes, line ends and modes are kept", async () => {
  const truth = await openTruth(await makeDataset());
  const tree = await truth.solutionTree("a", 2);
  expect([...tree.keys()]).toEqual(["pub/pixel.png", "run.sh", "server.js"]);
  expect(tree.get("pub/pixel.png")?.bytes.equals(picture)).toBe(true);
  expect(tree.get("run.sh")?.mode).toBe(0o755);
  expect(tree.get("server.js")?.mode).toBe(0o644);
  for (const [index, step] of steps.entries()) {
    expect(await textOf(truth, "solution", index + 1)).toBe(step["server.js"]);
  }
});

test("patches apply although the folder for scratch files lies inside a repository", async () => {
  const folder = await makeDataset();
  const repository = await makeTempFolder();
  execFileSync("git", ["init", "--quiet"], { cwd: repository });
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = repository;
  try {
    const truth = await openTruth(folder);
    expect((await truth.solutionTree("a", 3)).size).toBe(3);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
});

test("a step may be a whole tree, and an empty patch leaves the tree as it is", async () => {
  const folder = await makeDataset({ mutants: [] });
  await rm(path.join(folder, "solutions/a/02.patch"));
  await rm(path.join(folder, "solutions/a/03.patch"));
  await mkdir(path.join(folder, "solutions/a/02"));
  await writeFile(path.join(folder, "solutions/a/02/index.html"), "<h1>Notes</h1>");
  await writeFile(path.join(folder, "solutions/a/03.patch"), "");
  const truth = await openTruth(folder);
  expect([...(await truth.solutionTree("a", 2)).keys()]).toEqual(["index.html"]);
  expect([...(await truth.solutionTree("a", 3)).keys()]).toEqual(["index.html"]);
  expect(await complaints(folder)).toEqual(["warning: row a: step 3 of the solution solution changes nothing"]);
});

test("a mutant's edits hold from its first request until it leaves, as plain text", async () => {
  const truth = await openTruth(await makeDataset({ mutants: [list] }));
  expect(await textOf(truth, "m-list", 1)).toBe(steps[0]?.["server.js"]);
  expect(await textOf(truth, "m-list", 2)).toBe("const rate = 2;\r\nstart();\nlist('$&'); \n");
  expect(await textOf(truth, "m-list", 3)).toBe(steps[2]?.["server.js"]);
});

test("a set applies its mutants of the row together; a row it does not touch gets the solution", async () => {
  const sets = { both: { a: ["m-rate"], b: ["m-list"] }, none: ["m-other"] };
  const other = mutant({ id: "m-other", row: "b" });
  const truth = await openTruth(await makeDataset({ mutants: [mutant(), list, other], sets }));
  expect(await textOf(truth, "both", 2)).toBe("const rate = 10 * 2;\r\nstart();\nlist('$&'); \n");
  expect(await textOf(truth, "none", 2)).toBe(steps[1]?.["server.js"]);
  expect(await textOf(truth, "m-other", 2)).toBe(steps[1]?.["server.js"]);
});

test("mutants and sets may be spread over files", async () => {
  const folder = await makeDataset({ sets: { both: ["m-rate"] } });
  await mkdir(path.join(folder, "mutants"));
  await mkdir(path.join(folder, "sets"));
  await writeFile(path.join(folder, "mutants/a.json"), JSON.stringify([list]));
  await writeFile(path.join(folder, "sets/a.json"), JSON.stringify({ both: ["m-list"] }));
  const truth = await openTruth(folder);
  expect(truth.mutants.map(({ id }) => id)).toEqual(["m-rate", "m-list"]);
  expect(truth.sets).toMatchObject([{ name: "both", mutantIds: ["m-rate", "m-list"] }]);
});

test("a second solution is replayed by its name", async () => {
  const folder = await makeDataset();
  await mkdir(path.join(folder, "solutions-second/a/01"), { recursive: true });
  await writeFile(path.join(folder, "solutions-second/a/01/index.html"), "second");
  const truth = await openTruth(folder);
  expect(truth.variants).toEqual(["solution", "second"]);
  expect([...(await truth.replayTree("second", "a", 1)).keys()]).toEqual(["index.html"]);
  expect([...(await truth.solutionTree("a", 1, "second")).keys()]).toEqual(["index.html"]);
  await expect(truth.replayTree("second", "a", 2)).rejects.toThrow("does not reach request 2: it has 1 steps");
});

test("an unknown name is a usage error that says what there is", async () => {
  const truth = await openTruth(await makeDataset({ sets: { forgetful: ["m-rate"] } }));
  const message = 'nothing to replay is called "x"; solutions: solution; sets: forgetful; mutants: m-rate';
  await expect(truth.replayTree("x", "a", 1)).rejects.toMatchObject({ code: "usage", message });
  expect(() => {
    truth.requireReplay("x");
  }).toThrow(message);
  await expect(truth.solutionTree("a", 1, "third")).rejects.toThrow('no solution called "third"; there is: solution');
  await expect(truth.solutionTree("z", 1)).rejects.toThrow("no solution solution of row z");
});

test("the oracle of a row is an absolute path to the source while evoweb runs from source", async () => {
  const folder = await makeDataset();
  await writeFile(path.join(folder, "oracles/a.js"), "");
  const truth = await openTruth(folder);
  expect(truth.oraclePath("a")).toBe(path.join(folder, "oracles/a.ts"));
  expect([truth.hasOracle("a"), truth.hasOracle("b")]).toEqual([true, false]);
  expect(() => truth.oraclePath("b")).toThrow("row b has no oracle");
});

test("a patch that does not apply, a missing step and a symlink are faults of the row", async () => {
  const broken = await makeDataset({ mutants: [] });
  const patch = "--- a/server.js\n+++ b/server.js\n@@ -1 +1 @@\n-nothing\n+something\n";
  await writeFile(path.join(broken, "solutions/a/02.patch"), patch);
  expect(await complaints(broken)).toEqual([
    expect.stringMatching(/^fault: row a: .*02\.patch does not apply: patch failed/),
  ]);
  await expect((await openTruth(broken)).solutionTree("a", 2)).rejects.toMatchObject({ code: "dataset" });

  const gap = await makeDataset({ mutants: [] });
  await rm(path.join(gap, "solutions/a/02.patch"));
  expect(await complaints(gap)).toEqual([
    expect.stringContaining("the step for request 2 is missing; the next one is 03.patch"),
  ]);

  const linked = await makeDataset({ mutants: [] });
  await rm(path.join(linked, "solutions/a/03.patch"));
  await mkdir(path.join(linked, "solutions/a/03"));
  await symlink("/etc/passwd", path.join(linked, "solutions/a/03/link"));
  expect(await complaints(linked)).toEqual([expect.stringContaining("link is not a regular file")]);
});

test("a patch cannot write outside its tree", async () => {
  const folder = await makeDataset({ mutants: [] });
  const patch = "--- /dev/null\n+++ b/../outside.txt\n@@ -0,0 +1 @@\n+x\n";
  await writeFile(path.join(folder, "solutions/a/03.patch"), patch);
  expect(await complaints(folder)).toEqual([expect.stringContaining("03.patch does not apply")]);
});

test.each([
  [
    "a text that is not there",
    { edits: [{ file: "server.js", find: "nope", replace: "" }] },
    [
      'fault: mutants.json, line 1, column 68, [0].edits[0]: mutant m-rate: after request 2, 3: server.js does not contain the text of "find"',
    ],
  ],
  [
    "a text that occurs twice",
    { edits: [{ file: "server.js", find: "st", replace: "" }] },
    [expect.stringContaining('after request 2, 3: server.js contains the text of "find" more than once')],
  ],
  [
    "a file that is not there",
    { edits: [{ file: "x.js", find: "a", replace: "" }] },
    [expect.stringContaining("there is no file x.js")],
  ],
  [
    "an edit without effect",
    { edits: [{ file: "server.js", find: "start", replace: "start" }] },
    [expect.stringContaining("find and replace are the same")],
  ],
  [
    "edits that undo each other",
    {
      edits: [
        { file: "server.js", find: "start", replace: "begin" },
        { file: "server.js", find: "begin", replace: "start" },
      ],
    },
    [expect.stringContaining("the edits together change nothing")],
  ],
  ["a row that is not there", { row: "z" }, [expect.stringContaining('"z" is no row here')]],
  [
    "a range outside the row",
    { enters: 4, changes: [] },
    [expect.stringContaining("4 is no request"), expect.stringMatching(/^warning: .*no verdict changes/)],
  ],
  [
    "a range that ends before it begins",
    { leaves: 2, changes: [] },
    [expect.stringContaining("2 is not within 3..3"), expect.stringContaining("no verdict changes")],
  ],
  [
    "a check that is not there",
    { changes: [{ request: 2, check: 5, verdict: "NO" }] },
    [expect.stringContaining("there is no check 5 of request 2; the row has checks 0..4 there")],
  ],
  [
    "a change before the mutant enters",
    { changes: [{ request: 1, check: 0, verdict: "NO" }] },
    [expect.stringContaining("request 1 is judged without the mutant's edits")],
  ],
  [
    "a verdict that is no change, twice",
    {
      changes: [
        { request: 2, check: 0, verdict: "YES" },
        { request: 2, check: 0, verdict: "NO" },
      ],
    },
    [expect.stringContaining("is YES, as without"), expect.stringContaining("is listed twice")],
  ],
  ["the name of a solution", { id: "solution" }, [expect.stringContaining("already the name of a solution")]],
])("a mutant with %s is named", async (_what, fields, expected) => {
  expect(await complaints(await makeDataset({ mutants: [mutant(fields)] }))).toEqual(expected);
});

test("repeated mutant ids and sets with unknown or clashing members are faults", async () => {
  const clash = mutant({
    id: "m-clash",
    edits: [{ file: "server.js", find: "const rate = ", replace: "let rate = " }],
  });
  const folder = await makeDataset({
    mutants: [clash, mutant(), mutant()],
    sets: { odd: ["m-nobody"], pair: ["m-rate", "m-clash"], "m-clash": [] },
  });
  expect(await complaints(folder)).toEqual([
    expect.stringMatching(/mutants\.json, .*\[2\]\.id: mutant m-rate: "m-rate" is already the name of a mutant/),
    'fault: sets.json, m-clash: "m-clash" is already the name of a mutant',
    'fault: sets.json, odd: "m-nobody" is no mutant',
    expect.stringMatching(/sets\.json, pair: "m-rate" does not apply after the others of its row, on request 2/),
  ]);
});

test("mutants that cannot be read stop the data set from opening, every fault at once", async () => {
  const folder = await makeDataset({ mutants: [{ id: "x" }, mutant({ edits: [] })], sets: { x: 3 } });
  const opened = openDataset(folder);
  await expect(opened).rejects.toThrow("mutants.json");
  await expect(opened).rejects.toThrow("sets.json");
  expect((await complaints(folder)).length).toBeGreaterThanOrEqual(6);
});

test("rows without solution or oracle and solutions without a row are warnings", async () => {
  const folder = await makeDataset({ mutants: [] });
  await writeFile(path.join(folder, "rows.jsonl"), JSON.stringify(sampleRow("b", 3)));
  expect(await complaints(folder)).toEqual([
    "warning: row a: has a solution solution, but is no row here",
    "warning: row b: has no solution",
    "warning: row b: has no oracle",
  ]);
});
