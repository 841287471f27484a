import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { sampleRow } from "../dataset/sample-row.ts";
import { makeTempFolder } from "../temp-folder.ts";

// Every test starts processes; on a busy machine that takes seconds.
vi.setConfig({ testTimeout: 60_000 });

interface Output {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const program = ["--import", "tsx", path.resolve("src/cli/main.ts"), "dataset"];

function evowebDataset(...args: readonly string[]): Promise<Output> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...program, ...args], { timeout: 30_000 }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

async function writeRows(...rows: readonly unknown[]): Promise<string> {
  const file = path.join(await makeTempFolder(), "apps.jsonl");
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

test("the dataset that comes with evoweb has no faults", async () => {
  const { exitCode, stdout } = await evowebDataset("validate", "evoweb-mini");
  expect(stdout).toContain("No faults.");
  expect(exitCode).toBe(0);
});

test("validate lists refused rows, other faults and warnings apart, and exits 1", async () => {
  const circle = sampleRow("dag-circle");
  circle.dependency_graph.edges.push({ from: "R8", to: "R5", what: "" });
  const empty = { ...sampleRow("no-checks", 1), ui_instruct: [] };
  const odd = sampleRow("odd", 2);
  const [followUp] = odd.follow_ups;
  if (followUp !== undefined) followUp.archetype = "dance";
  const file = await writeRows(circle, empty, odd);

  const { exitCode, stdout } = await evowebDataset("validate", file);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /Stops the dataset from loading \(1 fault\):\n {2}line 1, column \d+, row dag-circle, dependency_graph\.edges: .*R5 -> R8 -> R7 -> R6 -> R5\n/,
  );
  expect(stdout).toMatch(/Wrong, though the dataset loads \(1 fault\):\n {2}line 2, .*row no-checks, ui_instruct: /);
  expect(stdout).toMatch(/Odd, but allowed \(1 warning\):\n {2}line 3, .*row odd, follow_ups\[0\]\.archetype: /);

  const shown = await evowebDataset("show", file);
  expect(shown).toMatchObject({ exitCode: 1, stdout: "" });
  expect(shown.stderr).toContain("R5 -> R8 -> R7 -> R6 -> R5");
});

test("with --json stdout is one document", async () => {
  const file = await writeRows({ ...sampleRow("a", 1), ui_instruct: [] });
  const { exitCode, stdout } = await evowebDataset("validate", file, "--json");
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, rowCount: 1, faults: [{ rowId: "a", line: 1 }], warnings: [] });
  const shown = await evowebDataset("show", file, "--json");
  expect(JSON.parse(shown.stdout)).toMatchObject({ name: "apps", apps: [{ sampleIndex: 1, row: { id: "a" } }] });
});

test("validate --against names what a translation changed besides the requests, with its line", async () => {
  const original = await writeRows(sampleRow("a", 1), sampleRow("b", 1));
  const translated = await writeRows(
    { ...sampleRow("a", 1), instruction: "Baue eine Seite." },
    { ...sampleRow("b", 1), instruction: "Baue eine Seite.", global_rules: [] },
  );
  const { exitCode, stdout } = await evowebDataset("validate", translated, "--against", original);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/\(1 fault\):\n {2}line 2, column \d+, row b, global_rules: differs from the original\n/);
});

test("show prints requests, roles and dependencies of the chosen apps, and no control characters", async () => {
  const file = await writeRows(sampleRow("a", 1), { ...sampleRow("b", 2), instruction: "red \u001b[31m text" });
  const { stdout } = await evowebDataset("show", file, "--apps", "2");
  expect(stdout).toMatch(/^App 2, row b: requests: 2, checks: 11\n/);
  expect(stdout).toContain("| red \\u001b[31m text");
  expect(stdout).toContain("R2  Part 2  [derived-state]  needs R1 (the list)");
  expect(stdout).toContain("3  integration\n       Do step 3 of request 2.\n       => Outcome 2.3 is shown.");
  expect(stdout).toContain("4  backward, from R1");
});

test("graph prints levels and Mermaid text", async () => {
  const file = await writeRows(sampleRow("a", 3));
  const { stdout } = await evowebDataset("graph", file);
  expect(stdout).toContain("level 1: R1\n  level 2: R2\n  level 3: R3\n");
  expect(stdout).toContain('flowchart TD\n  R1["R1: Part 1"]\n');
  expect(stdout).toContain('R1 -->|"the list"| R2');
});

test.each([
  [["show", "evoweb-mini", "--apps", "9"], 2, "there is no app 9"],
  [["validate", "no/such/path"], 1, "there is no file or folder"],
  [["validate", ""], 2, "is empty"],
  [["valdate", "x"], 2, "Did you mean validate?"],
  [["validate", "evoweb-mini", "--jsn"], 2, "Did you mean --json?"],
])("evoweb dataset %j exits with %i", async (args, code, message) => {
  const { exitCode, stdout, stderr } = await evowebDataset(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
  expect(stderr).toContain(message);
});

test("--help gives an example", async () => {
  const { exitCode, stdout } = await evowebDataset("validate", "--help");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/Examples?:\n {2}evoweb dataset/);
});
