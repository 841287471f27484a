import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { EvowebError, messageOf } from "../errors.ts";
import { compareRows } from "./compare-rows.ts";
import { findingText, type LocatedFinding } from "./finding.ts";
import { inspectTruth, type GroundTruth } from "./ground-truth.ts";
import { inspectRows, readRows, requireApps } from "./read-rows.ts";
import type { Row, SampledRow } from "./row.ts";
import { validateTruth } from "./validate-truth.ts";

/** A data set that can be run. */
export interface Dataset {
  /** Built-in name, name of the folder, or name of the file without its ending; `rows.jsonl` is called by its folder. */
  readonly name: string;
  /** Absolute path of the data set's folder; null for a file of rows that is not called `rows*`. */
  readonly dir: string | null;
  /** SHA-256 (hex) of what all rows of the file say, chosen or not, whatever the form of the file. */
  readonly contentHash: string;
  /** The chosen rows in file order, with their position in the file. */
  readonly apps: readonly SampledRow[];
  /** Just the rows of `apps`; without a choice, position + 1 is the sample index. */
  readonly rows: readonly Row[];
  /** Solutions, mutants and oracles; null where the data set has none. */
  readonly truth: GroundTruth | null;
}

/** What `evoweb dataset validate` finds. */
export interface DatasetReport {
  readonly name: string;
  /** The file of rows. */
  readonly file: string;
  /** Rows that load. */
  readonly rowCount: number;
  readonly requestCount: number;
  readonly checkCount: number;
  /** Severity "refused" or "fault"; any of them fails the validation. */
  readonly faults: readonly LocatedFinding[];
  readonly warnings: readonly LocatedFinding[];
}

/** Data sets that come with evoweb; the folder lies beside `src` and beside `dist`. */
const builtInFolder = fileURLToPath(new URL("../../datasets/", import.meta.url));

/**
 * Opens a built-in data set by name, a folder with `rows.jsonl`, or a JSON or JSONL file. A built-in name wins over a file
 * of that name; write `./NAME` for the latter. A file called `rows*.json(l)` has the ground truth that lies beside it.
 *
 * With `apps` (such as "1,3-5", by position in the file) faults of other rows do not matter.
 *
 * @throws EvowebError `dataset` when there is no such thing, or with every fault that refuses a chosen row or the ground truth;
 * `usage` when `apps` names what is not there.
 */
export async function openDataset(nameOrPath: string, options: { readonly apps?: string } = {}): Promise<Dataset> {
  const { name, dir, source } = await locate(nameOrPath);
  const inspectedRows = await inspectRows(source);
  const apps = requireApps(inspectedRows, options.apps);
  const inspected = dir === null ? null : await inspectTruth(dir);
  if (inspected !== null && inspected.findings.length > 0) {
    const lines = inspected.findings.map((finding) => `  ${findingText(finding)}`);
    throw new EvowebError("dataset", `the ground truth in ${dir} cannot be loaded\n${lines.join("\n")}`);
  }
  const rows = apps.map(({ row }) => row);
  return { name, dir, contentHash: inspectedRows.contentHash, apps, rows, truth: inspected?.truth ?? null };
}

/**
 * Checks a data set, its ground truth and, with `against`, that only the users' requests differ from another data set.
 *
 * @throws EvowebError `dataset` when there is no data set or file to look at.
 */
export async function validateDataset(
  nameOrPath: string,
  options: { readonly against?: string } = {},
): Promise<DatasetReport> {
  const { name, dir, source } = await locate(nameOrPath);
  const { file, sampled, findings, locate: place } = await inspectRows(source);
  const rows = sampled.map(({ row }) => row);
  // Against a part of the rows, sound mutants would look wrong.
  const isPartial = findings.some((finding) => finding.severity === "refused");
  const truth = dir === null || isPartial ? null : await inspectTruth(dir);
  const original = options.against === undefined ? null : await readRows((await locate(options.against)).source);
  const all = [
    ...findings,
    ...(truth === null ? [] : await validateTruth(truth, rows)),
    ...(original === null ? [] : compareRows(rows, original).map(place)),
  ];
  const requests = rows.flatMap((row) => row.requests);
  return {
    name,
    file,
    rowCount: rows.length,
    requestCount: requests.length,
    checkCount: requests.reduce((sum, request) => sum + request.checks.length, 0),
    faults: all.filter((finding) => finding.severity !== "warning"),
    warnings: all.filter((finding) => finding.severity === "warning"),
  };
}

interface Location {
  readonly name: string;
  readonly dir: string | null;
  readonly source: string;
}

async function locate(nameOrPath: string): Promise<Location> {
  if (nameOrPath === "") throw new EvowebError("usage", "the name or path of the dataset is empty");
  const builtIns = await readdir(builtInFolder, { withFileTypes: true }).catch(() => []);
  const names = builtIns.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  if (names.includes(nameOrPath)) {
    const dir = path.join(builtInFolder, nameOrPath);
    return { name: nameOrPath, dir, source: dir };
  }
  const info = await stat(nameOrPath).catch((error: unknown) => {
    const isAbsent = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    const known = `built-in datasets: ${names.length === 0 ? "none" : names.join(", ")}`;
    const what = isAbsent ? `there is no file or folder ${path.resolve(nameOrPath)}` : messageOf(error);
    throw new EvowebError("dataset", `no dataset "${nameOrPath}": ${what}; ${known}`, { cause: error });
  });
  const absolute = path.resolve(nameOrPath);
  if (info.isDirectory()) return { name: path.basename(absolute), dir: absolute, source: nameOrPath };
  const dir = path.dirname(absolute);
  const name = path.basename(absolute).replace(/\.jsonl?$/, "");
  if (!name.startsWith("rows")) return { name, dir: null, source: nameOrPath };
  return { name: name === "rows" ? path.basename(dir) : name, dir, source: nameOrPath };
}
