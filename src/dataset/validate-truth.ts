import { isSameTree, type FileTree } from "./file-tree.ts";
import type { LocatedFinding } from "./finding.ts";
import type { InspectedTruth } from "./ground-truth.ts";
import { applyEdits, isInRange, type FoundMutant } from "./mutants.ts";
import type { Mutant, Row } from "./row.ts";

/** Everything wrong or odd in a data set's ground truth; solutions are built, nothing of them is run. */
export async function validateTruth(
  inspected: InspectedTruth,
  rows: readonly Row[],
): Promise<readonly LocatedFinding[]> {
  const trees = new Map<string, readonly FileTree[]>();
  const findings: LocatedFinding[] = [];
  for (const variant of inspected.truth.variants) {
    for (const row of rows) {
      if (inspected.solved.get(variant)?.includes(row.id) !== true) continue;
      const { trees: steps, fault } = await inspected.snapshots(variant, row.id);
      if (variant === "solution") trees.set(row.id, steps);
      findings.push(...checkSteps({ row, variant, steps, ...(fault === undefined ? {} : { fault }) }));
    }
  }
  return [
    ...inspected.findings,
    ...checkRows(inspected, rows),
    ...findings,
    ...checkNames(inspected),
    ...inspected.found.flatMap((found) => checkMutant(found, rows, trees)),
    ...checkSets(inspected, trees),
  ];
}

function checkRows({ truth, solved }: InspectedTruth, rows: readonly Row[]): readonly LocatedFinding[] {
  const ids = rows.map((row) => row.id);
  const strangers = [...solved].flatMap(([variant, solvedIds]) =>
    solvedIds.filter((id) => !ids.includes(id)).map((id) => warn(id, `has a ${variant} solution, but is no row here`)),
  );
  const lacks = rows.flatMap((row) => [
    ...(solved.get("solution")?.includes(row.id) === true ? [] : [warn(row.id, "has no solution")]),
    ...(truth.hasOracle(row.id) ? [] : [warn(row.id, "has no oracle")]),
  ]);
  return [...strangers, ...lacks];
}

interface Steps {
  readonly row: Row;
  readonly variant: string;
  readonly steps: readonly FileTree[];
  readonly fault?: string;
}

function checkSteps({ row, variant, steps, fault }: Steps): readonly LocatedFinding[] {
  const findings: LocatedFinding[] = [];
  if (fault !== undefined) findings.push({ severity: "fault", rowId: row.id, path: [], message: fault });
  else if (steps.length !== row.requests.length) {
    const message = `the ${variant} solution has ${steps.length} steps for ${row.requests.length} requests`;
    findings.push({ severity: "fault", rowId: row.id, path: [], message });
  }
  for (const [index, tree] of steps.entries()) {
    const before = steps[index - 1];
    if (before === undefined ? tree.size > 0 : !isSameTree(before, tree)) continue;
    findings.push(warn(row.id, `step ${index + 1} of the ${variant} solution changes nothing`));
  }
  return findings;
}

function checkNames({ truth, found }: InspectedTruth): readonly LocatedFinding[] {
  const taken = new Map(truth.variants.map((name) => [name, "a solution"]));
  const findings: LocatedFinding[] = [];
  for (const { mutant, at } of found) {
    const other = taken.get(mutant.id);
    if (other !== undefined) findings.push(at(["id"], `"${mutant.id}" is already the name of ${other}`));
    taken.set(mutant.id, "a mutant");
  }
  for (const { name, file } of truth.sets) {
    const other = taken.get(name);
    if (other !== undefined) findings.push(setFault(file, name, `"${name}" is already the name of ${other}`));
  }
  return findings;
}

function checkMutant(
  found: FoundMutant,
  rows: readonly Row[],
  trees: ReadonlyMap<string, readonly FileTree[]>,
): readonly LocatedFinding[] {
  const { mutant, at } = found;
  const row = rows.find((candidate) => candidate.id === mutant.row);
  if (row === undefined) return [at(["row"], `"${mutant.row}" is no row here`)];
  return [
    ...checkRange(found, row),
    ...checkChanges(found, row),
    ...checkEdits(found, trees.get(row.id) ?? []),
    ...(mutant.changes.length > 0 ? [] : [{ ...at(["changes"], "no verdict changes"), severity: "warning" as const }]),
  ];
}

function checkRange({ mutant, at }: FoundMutant, row: Row): readonly LocatedFinding[] {
  const count = row.requests.length;
  const { enters, leaves } = mutant;
  if (enters > count) return [at(["enters"], `${enters} is no request; the row has requests 1..${count}`)];
  if (leaves === undefined || (leaves > enters && leaves <= count)) return [];
  return [at(["leaves"], `${leaves} is not within ${enters + 1}..${count}, after the mutant enters`)];
}

function checkChanges({ mutant, at }: FoundMutant, row: Row): readonly LocatedFinding[] {
  const seen = new Set<string>();
  return mutant.changes.flatMap((change, index) => {
    const path = ["changes", index];
    const { request, check, verdict } = change;
    const key = `${request} ${check}`;
    const isRepeated = seen.has(key);
    seen.add(key);
    const checks = row.requests[request - 1]?.checks;
    if (checks?.[check] === undefined) {
      const has = checks === undefined ? `${row.requests.length} requests` : `checks 0..${checks.length - 1} there`;
      return [at(path, `there is no check ${check} of request ${request}; the row has ${has}`)];
    }
    return [
      ...(isRepeated ? [at(path, `check ${check} of request ${request} is listed twice`)] : []),
      ...(isInRange(mutant, request) ? [] : [at(path, `request ${request} is judged without the mutant's edits`)]),
      ...(verdict === "YES" ? [at([...path, "verdict"], "is YES, as without the mutant; list only what changes")] : []),
    ];
  });
}

function checkEdits({ mutant, at }: FoundMutant, trees: readonly FileTree[]): readonly LocatedFinding[] {
  const idle = mutant.edits.flatMap(({ find, replace }, index) =>
    find === replace ? [at(["edits", index], "changes nothing: find and replace are the same")] : [],
  );
  // A text that is not found once is usually so on several snapshots: one finding for all of them.
  const faults = new Map<string, { readonly edit: number; readonly fault: string; readonly requests: number[] }>();
  for (const [index, tree] of trees.entries()) {
    if (!isInRange(mutant, index + 1)) continue;
    const result = applyEdits(tree, mutant);
    if ("tree" in result) {
      if (idle.length === 0 && isSameTree(tree, result.tree))
        idle.push(at(["edits"], "the edits together change nothing"));
      continue;
    }
    const key = `${result.edit} ${result.fault}`;
    const known = faults.get(key) ?? { ...result, requests: [] };
    known.requests.push(index + 1);
    faults.set(key, known);
  }
  const misses = [...faults.values()].map(({ edit, fault, requests }) =>
    at(["edits", edit], `after request ${requests.join(", ")}: ${fault}`),
  );
  return [...idle, ...misses];
}

function checkSets(
  { truth }: InspectedTruth,
  trees: ReadonlyMap<string, readonly FileTree[]>,
): readonly LocatedFinding[] {
  return truth.sets.flatMap(({ name, mutantIds, file }) => {
    const unknown = mutantIds.filter((id) => !truth.mutants.some((mutant) => mutant.id === id));
    const chosen = truth.mutants.filter(({ id }) => mutantIds.includes(id));
    return [
      ...unknown.map((id) => setFault(file, name, `"${id}" is no mutant`)),
      ...[...trees].flatMap(([rowId, steps]) =>
        clashes(
          chosen.filter(({ row }) => row === rowId),
          steps,
        ).map((message) => setFault(file, name, message)),
      ),
    ];
  });
}

// Mutants that apply alone may still get in each other's way; those that do not are reported by themselves.
function clashes(mutants: readonly Mutant[], steps: readonly FileTree[]): readonly string[] {
  for (const [index, step] of steps.entries()) {
    let tree = step;
    for (const mutant of mutants.filter((candidate) => isInRange(candidate, index + 1))) {
      if (!("tree" in applyEdits(step, mutant))) continue;
      const result = applyEdits(tree, mutant);
      if (!("tree" in result)) {
        return [`"${mutant.id}" does not apply after the others of its row, on request ${index + 1}: ${result.fault}`];
      }
      tree = result.tree;
    }
  }
  return [];
}

function setFault(file: string, name: string, message: string): LocatedFinding {
  return { severity: "fault", file, path: [name], message };
}

function warn(rowId: string, message: string): LocatedFinding {
  return { severity: "warning", rowId, path: [], message };
}
