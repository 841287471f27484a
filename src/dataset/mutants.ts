import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { FileTree } from "./file-tree.ts";
import type { LocatedFinding } from "./finding.ts";
import { readJsonDocuments, type JsonDocument } from "./json-documents.ts";
import { Mutant } from "./row.ts";

/** A mutant with the place it was read from. */
export interface FoundMutant {
  readonly mutant: Mutant;
  /** The mutant's finding at `path` inside its entry, with file and line. */
  readonly at: (path: readonly (string | number)[], message: string) => LocatedFinding;
}

/** A named list of mutants, in file order. */
export interface MutantSet {
  readonly name: string;
  readonly mutantIds: readonly string[];
  /** File the set was read from. */
  readonly file: string;
}

const MutantSets = z.record(
  z.string(),
  z.union([
    z.array(z.string()),
    z.record(z.string(), z.array(z.string())).transform((rows) => Object.values(rows).flat()),
  ]),
);

/** Mutants of `mutants.json` and `mutants/*.json`; entries that are none are findings. */
export async function readMutants(
  dir: string,
): Promise<{ readonly mutants: readonly FoundMutant[]; readonly findings: readonly LocatedFinding[] }> {
  const mutants: FoundMutant[] = [];
  const findings: LocatedFinding[] = [];
  for (const file of await findFiles(dir, "mutants")) {
    const read = readJsonDocuments(await readFile(path.join(dir, file), "utf8"));
    findings.push(...read.findings.map((finding) => ({ ...finding, file })));
    for (const [index, document] of read.documents.entries()) {
      const result = Mutant.safeParse(document.value);
      const place = placeIn(document, file, index);
      if (result.success) {
        const mutant = result.data;
        mutants.push({ mutant, at: (at, message) => place("fault", at, `mutant ${mutant.id}: ${message}`) });
      } else findings.push(...issuesOf(result.error).map(([at, message]) => place("refused", at, message)));
    }
  }
  return { mutants, findings };
}

/** Sets of `sets.json` and `sets/*.json`: `{NAME: [mutant ids]}` or `{NAME: {ROW: [mutant ids]}}`; equal names are joined. */
export async function readMutantSets(
  dir: string,
): Promise<{ readonly sets: readonly MutantSet[]; readonly findings: readonly LocatedFinding[] }> {
  const sets = new Map<string, MutantSet>();
  const findings: LocatedFinding[] = [];
  for (const file of await findFiles(dir, "sets")) {
    const read = readJsonDocuments(await readFile(path.join(dir, file), "utf8"));
    findings.push(...read.findings.map((finding) => ({ ...finding, file })));
    for (const document of read.documents) {
      const result = MutantSets.safeParse(document.value);
      if (!result.success) {
        const place = placeIn(document, file);
        findings.push(...issuesOf(result.error).map(([at, message]) => place("refused", at, message)));
        continue;
      }
      for (const [name, ids] of Object.entries(result.data)) {
        sets.set(name, { name, mutantIds: [...new Set([...(sets.get(name)?.mutantIds ?? []), ...ids])], file });
      }
    }
  }
  return { sets: [...sets.values()], findings };
}

/** Whether the mutant's edits are applied on the snapshot after this request. */
export function isInRange(mutant: Mutant, request: number): boolean {
  return request >= mutant.enters && (mutant.leaves === undefined || request < mutant.leaves);
}

/** The tree with the mutant's edits, in order; a text that does not occur exactly once is named instead, with its edit. */
export function applyEdits(
  tree: FileTree,
  mutant: Mutant,
): { readonly tree: FileTree } | { readonly edit: number; readonly fault: string } {
  const edited = new Map(tree);
  for (const [edit, { file, find, replace }] of mutant.edits.entries()) {
    const before = edited.get(file);
    if (before === undefined) return { edit, fault: `there is no file ${file}` };
    const wanted = Buffer.from(find);
    const first = before.bytes.indexOf(wanted);
    if (first < 0) return { edit, fault: `${file} does not contain the text of "find"` };
    if (before.bytes.includes(wanted, first + 1))
      return { edit, fault: `${file} contains the text of "find" more than once` };
    const rest = before.bytes.subarray(first + wanted.length);
    edited.set(file, {
      ...before,
      bytes: Buffer.concat([before.bytes.subarray(0, first), Buffer.from(replace), rest]),
    });
  }
  return { tree: edited };
}

async function findFiles(dir: string, name: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const single = entries.filter((entry) => entry.isFile() && entry.name === `${name}.json`).map((entry) => entry.name);
  if (!entries.some((entry) => entry.isDirectory() && entry.name === name)) return single;
  const parts = await readdir(path.join(dir, name));
  return [
    ...single,
    ...parts
      .filter((part) => part.endsWith(".json"))
      .sort()
      .map((part) => `${name}/${part}`),
  ];
}

function placeIn(document: JsonDocument, file: string, index?: number) {
  return (severity: LocatedFinding["severity"], at: readonly (string | number)[], message: string): LocatedFinding => ({
    severity,
    message,
    file,
    ...document.locate(at),
    path: index === undefined ? at : [index, ...at],
  });
}

function issuesOf(error: z.ZodError): readonly (readonly [readonly (string | number)[], string])[] {
  return error.issues.map((issue) => [
    issue.path.filter((part) => typeof part !== "symbol"),
    issue.message.replace("Invalid input: ", "").replace("received undefined", "but it is missing"),
  ]);
}
