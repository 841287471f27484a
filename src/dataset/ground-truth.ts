import { readdir } from "node:fs/promises";
import path from "node:path";
import { EvowebError } from "../errors.ts";
import type { FileTree } from "./file-tree.ts";
import { hashOfJson } from "./content-hash.ts";
import { hashFolders } from "./hash-folders.ts";
import type { LocatedFinding } from "./finding.ts";
import { applyEdits, isInRange, readMutants, readMutantSets, type FoundMutant, type MutantSet } from "./mutants.ts";
import type { Mutant } from "./row.ts";
import { findVariants, readSnapshots, type Snapshots } from "./solutions.ts";

/** What a data set knows about its own apps: solutions, known-broken variants of them, and executable checks. */
export interface GroundTruth {
  /** Names of the solutions: "solution", then others such as "second". */
  readonly variants: readonly string[];
  readonly mutants: readonly Mutant[];
  readonly sets: readonly MutantSet[];
  /**
   * The files of a solution after `request` (1-based); `variant` defaults to "solution".
   *
   * @throws EvowebError `usage` for an unknown variant, `dataset` when the row has no such step or it does not apply.
   */
  solutionTree(rowId: string, request: number, variant?: string): Promise<FileTree>;
  /**
   * The files after `request` of what `spec` names: a variant, a mutant, or a set, which picks the mutants of this row and
   * applies them together. A row that the mutant or set does not touch gets the plain solution.
   *
   * @throws EvowebError `usage` for an unknown name, `dataset` when a solution or an edit does not apply.
   */
  replayTree(spec: string, rowId: string, request: number): Promise<FileTree>;
  /** Throws an EvowebError `usage` that names what exists unless `replayTree` knows `spec`: for asking before a run starts. */
  requireReplay(spec: string): void;
  /** SHA-256 (hex) over solutions, mutants and sets; oracles have the hash of their judge. */
  hash(): Promise<string>;
  /** Whether the row has executable checks. */
  hasOracle(rowId: string): boolean;
  /** Absolute path of the row's oracle module. @throws EvowebError `dataset` when the row has none. */
  oraclePath(rowId: string): string;
}

/** Ground truth as read, with what is needed to check it. */
export interface InspectedTruth {
  readonly truth: GroundTruth;
  readonly found: readonly FoundMutant[];
  /** Row ids that have a solution, by variant. */
  readonly solved: ReadonlyMap<string, readonly string[]>;
  readonly findings: readonly LocatedFinding[];
  snapshots(variant: string, rowId: string): Promise<Snapshots>;
}

/** Reads the ground truth in `dir`; null when there is none. What cannot be read is in `findings`. */
export async function inspectTruth(dir: string): Promise<InspectedTruth | null> {
  const variants = await findVariants(dir);
  const { mutants: found, findings } = await readMutants(dir);
  const { sets, findings: setFindings } = await readMutantSets(dir);
  const oracles = await findOracles(path.join(dir, "oracles"));
  const all = [...findings, ...setFindings];
  if (variants.size + found.length + sets.length + oracles.size + all.length === 0) return null;

  const solved = new Map<string, readonly string[]>();
  for (const [variant, folder] of variants) solved.set(variant, (await readdir(folder)).sort());
  // Applying patches takes a process each; a row's snapshots are asked for ten times and more.
  const known = new Map<string, Promise<Snapshots>>();
  const snapshots = (variant: string, rowId: string): Promise<Snapshots> => {
    const folder = path.join(variants.get(variant) ?? "", rowId);
    const reading = known.get(folder) ?? readSnapshots(folder);
    known.set(folder, reading);
    return reading;
  };
  const mutants = found.map(({ mutant }) => mutant);
  const context: Context = {
    dir,
    folders: [...variants.values()],
    variants: [...variants.keys()],
    mutants,
    sets,
    solved,
    snapshots,
  };
  return { truth: buildTruth(context, oracles), found, solved, findings: all, snapshots };
}

interface Context {
  readonly dir: string;
  /** Folders of the variants, in their order. */
  readonly folders: readonly string[];
  readonly variants: readonly string[];
  readonly mutants: readonly Mutant[];
  readonly sets: readonly MutantSet[];
  readonly solved: ReadonlyMap<string, readonly string[]>;
  readonly snapshots: (variant: string, rowId: string) => Promise<Snapshots>;
}

function buildTruth(context: Context, oracles: ReadonlyMap<string, string>): GroundTruth {
  const { variants, mutants, sets } = context;
  const requireReplay = (spec: string): void => {
    if ([...variants, ...mutants.map(({ id }) => id), ...sets.map(({ name }) => name)].includes(spec)) return;
    throw new EvowebError("usage", `nothing to replay is called "${spec}"; ${describeNames(context)}`);
  };
  return {
    variants,
    mutants,
    sets,
    solutionTree: (rowId, request, variant = "solution") => solutionTree(context, { rowId, request, variant }),
    requireReplay,
    replayTree: async (spec, rowId, request) => {
      requireReplay(spec);
      if (variants.includes(spec)) return solutionTree(context, { rowId, request, variant: spec });
      const ids = sets.find(({ name }) => name === spec)?.mutantIds ?? [spec];
      const chosen = mutants.filter(({ id, row }) => ids.includes(id) && row === rowId);
      const tree = await solutionTree(context, { rowId, request, variant: "solution" });
      return mutateTree(tree, chosen, request);
    },
    hash: async () => hashOfJson([await hashFolders(context.folders), mutants, sets]),
    hasOracle: (rowId) => oracles.has(rowId),
    oraclePath: (rowId) => {
      const file = oracles.get(rowId);
      if (file !== undefined) return file;
      throw new EvowebError("dataset", `row ${rowId} has no oracle in ${path.join(context.dir, "oracles")}`);
    },
  };
}

async function solutionTree(
  { dir, variants, solved, snapshots }: Context,
  { rowId, request, variant }: { readonly rowId: string; readonly request: number; readonly variant: string },
): Promise<FileTree> {
  const rows = solved.get(variant);
  if (rows === undefined) {
    const names = variants.length === 0 ? "none" : variants.join(", ");
    throw new EvowebError("usage", `${dir} has no solution called "${variant}"; there is: ${names}`);
  }
  if (!rows.includes(rowId)) throw new EvowebError("dataset", `${dir} has no ${variant} solution of row ${rowId}`);
  const { trees, fault } = await snapshots(variant, rowId);
  const tree = trees[request - 1];
  if (tree !== undefined) return tree;
  const why = fault ?? `it has ${trees.length} steps`;
  throw new EvowebError("dataset", `the ${variant} solution of row ${rowId} does not reach request ${request}: ${why}`);
}

function mutateTree(tree: FileTree, mutants: readonly Mutant[], request: number): FileTree {
  return mutants.reduce((before, mutant) => {
    if (!isInRange(mutant, request)) return before;
    const result = applyEdits(before, mutant);
    if ("tree" in result) return result.tree;
    const message = `mutant ${mutant.id} does not apply after request ${request}: edit ${result.edit + 1}: ${result.fault}`;
    throw new EvowebError("dataset", message);
  }, tree);
}

function describeNames({ variants, mutants, sets }: Context): string {
  const lists = [
    ["solutions", variants],
    ["sets", sets.map(({ name }) => name)],
    ["mutants", mutants.map(({ id }) => id)],
  ] as const;
  return lists.map(([what, names]) => `${what}: ${names.length === 0 ? "none" : names.join(", ")}`).join("; ");
}

// The package holds compiled oracles, since Node does not run TypeScript below node_modules; sources run from source.
async function findOracles(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder).catch(() => []);
  const preferred = import.meta.url.endsWith(".ts") ? [".js", ".ts"] : [".ts", ".js"];
  return new Map(
    preferred.flatMap((extension) =>
      names
        .filter((name) => name.endsWith(extension) && !name.endsWith(".d.ts"))
        .map((name) => [name.slice(0, -extension.length), path.resolve(folder, name)] as const),
    ),
  );
}
