import { EvowebError } from "../errors.ts";
import { compareRows } from "./compare-rows.ts";
import { findingText, type LocatedFinding } from "./finding.ts";
import { inspectTruth, type GroundTruth } from "./ground-truth.ts";
import { isHubName, locateRows, type SourceOptions } from "./locate-rows.ts";
import { inspectRows, requireApps } from "./read-rows.ts";
import type { Row, SampledRow } from "./row.ts";
import { validateTruth } from "./validate-truth.ts";

/** A data set that can be run. */
export interface Dataset {
  /**
   * Built-in name, `owner/name` on the Hub, name of the folder, or name of the file without its ending; `rows.jsonl` is called
   * by its folder. What identifies a data set is its content hash.
   */
  readonly name: string;
  /** Configuration and split; null for a file. */
  readonly config: string | null;
  readonly split: string | null;
  /** Commit of a data set on the Hub; null for all others. */
  readonly revision: string | null;
  /** Absolute path of the data set's folder; null on the Hub and for a file of rows that is not called `rows*`. */
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

/** Which data set to open, and which of its rows. */
export interface OpenOptions extends SourceOptions {
  /** Positions such as "1,3-5"; absent: all rows. */
  readonly apps?: string;
}

/**
 * Opens a built-in data set by name, a folder with `rows.jsonl`, a JSON, JSONL or Parquet file, or `owner/name` on the Hugging
 * Face Hub, which is pulled first. A built-in name wins over a file of that name (write `./NAME` for the latter), a file or folder
 * over the Hub. A file called `rows*.json(l)` has the ground truth that lies beside it, and so have a folder's translations.
 *
 * With `apps` (such as "1,3-5", by position in the file) faults of other rows do not matter.
 *
 * @throws EvowebError `dataset` when there is no such thing, or with every fault that refuses a chosen row or the ground truth;
 * `usage` when `apps`, `config`, `split` or `revision` names what is not there.
 */
export async function openDataset(nameOrPath: string, options: OpenOptions = {}): Promise<Dataset> {
  const { name, dir, source, config, split, revision, translate } = await locateRows(nameOrPath, options);
  const inspectedRows = await inspectRows(source, translate);
  const apps = requireApps(inspectedRows, options.apps);
  const inspected = dir === null ? null : await inspectTruth(dir);
  if (inspected !== null && inspected.findings.length > 0) {
    const lines = inspected.findings.map((finding) => `  ${findingText(finding)}`);
    throw new EvowebError("dataset", `the ground truth in ${dir} cannot be loaded\n${lines.join("\n")}`);
  }
  const rows = apps.map(({ row }) => row);
  const { contentHash } = inspectedRows;
  return { name, config, split, revision, dir, contentHash, apps, rows, truth: inspected?.truth ?? null };
}

/**
 * Checks a data set, its ground truth and, with `against`, that only the users' requests differ from another data set.
 *
 * @throws EvowebError `dataset` when there is no data set or file to look at.
 */
export async function validateDataset(
  nameOrPath: string,
  options: SourceOptions & { readonly against?: string } = {},
): Promise<DatasetReport> {
  const { name, dir, source, translate } = await locateRows(nameOrPath, options);
  const { file, sampled, findings, locate: place } = await inspectRows(source, translate);
  const rows = sampled.map(({ row }) => row);
  // Against a part of the rows, sound mutants would look wrong.
  const isPartial = findings.some((finding) => finding.severity === "refused");
  const truth = dir === null || isPartial ? null : await inspectTruth(dir);
  const original = options.against === undefined ? null : await readOriginal(options.against, options);
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

// The original of a split on the Hub is another split of the same commit; elsewhere it is found by its own name.
async function readOriginal(nameOrPath: string, options: SourceOptions): Promise<readonly Row[]> {
  const { hub, signal, revision } = options;
  const isPinned = revision !== undefined && isHubName(nameOrPath);
  const where = {
    ...(hub === undefined ? {} : { hub }),
    ...(signal === undefined ? {} : { signal }),
    ...(isPinned ? { revision } : {}),
  };
  const { source, translate } = await locateRows(nameOrPath, where);
  return requireApps(await inspectRows(source, translate)).map(({ row }) => row);
}
