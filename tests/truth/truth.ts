import type { Mutant } from "../../src/dataset/row.ts";
import {
  isInRange,
  mutate,
  readMutants,
  readRows,
  readSets,
  readSnapshots,
  type Tree,
  type TruthRow,
} from "./ground-truth.ts";
import type { Ruling, TreeJudge } from "./judge-tree.ts";

/** Verdicts a statement of the ground truth allows. */
type Allowed = readonly Ruling["verdict"][];

/** One statement of the ground truth: this check on this tree has one of these verdicts. */
export interface Statement {
  /** Which family of statements it belongs to. */
  readonly part: "solution" | "second" | "sweep" | "vacuity" | "mutants" | "sets";
  /** The tree in words, such as "mutant 000001-silent-save at 4". */
  readonly where: string;
  readonly rowId: string;
  readonly tree: Tree;
  readonly request: number;
  readonly check: number;
  readonly allowed: Allowed;
  /** Set for mutants; the measured verdict is one of its `changes` when it is not YES. */
  readonly mutantId?: string;
}

/** A statement and how it turned out. */
export interface Outcome extends Statement {
  readonly ruling: Ruling;
  readonly holds: boolean;
}

const yes: Allowed = ["YES"];
const notYes: Allowed = ["PARTIAL", "NO"];
const badness = { YES: 0, PARTIAL: 1, NO: 2 };

/** Everything the ground truth of a row says, in the order of the parts. */
export async function listStatements(row: TruthRow): Promise<Statement[]> {
  const snapshots = await readSnapshots("solutions", row.id);
  const second = await readSnapshots("solutions-second", row.id);
  const mutants = await readMutants(row.id);
  const sets = Object.entries(await readSets()).map(([name, ids]) => ({
    name,
    mutants: mutants.filter((mutant) => ids.includes(mutant.id)),
  }));
  return [
    ...solutionStatements(row, { part: "solution", snapshots }),
    ...solutionStatements(row, { part: "second", snapshots: second }),
    ...sweepStatements(row, snapshots),
    ...vacuityStatements(row, snapshots),
    ...mutants.flatMap((mutant) =>
      mutantStatements(row, snapshots, { part: "mutants", name: mutant.id, mutants: [mutant] }),
    ),
    ...sets.flatMap((set) => mutantStatements(row, snapshots, { part: "sets", ...set })),
  ];
}

function solutionStatements(
  row: TruthRow,
  { part, snapshots }: { part: "solution" | "second"; snapshots: readonly Tree[] },
): Statement[] {
  return snapshots.flatMap((tree, at) =>
    checkNumbers(row, at + 1).map((check) => ({
      part,
      where: `${part} at ${String(at + 1)}`,
      rowId: row.id,
      tree,
      request: at + 1,
      check,
      allowed: yes,
    })),
  );
}

/** Own checks of every request on the last snapshot, as in a final sweep. */
function sweepStatements(row: TruthRow, snapshots: readonly Tree[]): Statement[] {
  const tree = snapshots.at(-1);
  if (tree === undefined) return [];
  return snapshots.slice(0, -1).flatMap((_, at) =>
    checkNumbers(row, at + 1)
      .filter((check) => (at === 0 || check < 4) && row.requests[at]?.[check]?.superseded !== true)
      .map((check) => ({
        part: "sweep" as const,
        where: `solution at ${String(snapshots.length)}`,
        rowId: row.id,
        tree,
        request: at + 1,
        check,
        allowed: yes,
      })),
  );
}

/** The checks of a request that are new (functional and integration) on the snapshot before it. */
function vacuityStatements(row: TruthRow, snapshots: readonly Tree[]): Statement[] {
  return snapshots.slice(1).flatMap((_, at) =>
    checkNumbers(row, at + 2)
      .filter((check) => check < 4)
      .map((check) => ({
        part: "vacuity" as const,
        where: `solution at ${String(at + 1)}`,
        rowId: row.id,
        tree: snapshots[at] ?? new Map<string, Buffer>(),
        request: at + 2,
        check,
        // An integration check may hold before its request; only functional ones must be new.
        allowed: check < 3 ? notYes : [...yes, ...notYes],
      })),
  );
}

function mutantStatements(
  row: TruthRow,
  snapshots: readonly Tree[],
  { part, name, mutants }: { part: "mutants" | "sets"; name: string; mutants: readonly Mutant[] },
): Statement[] {
  return snapshots.flatMap((snapshot, at) => {
    const request = at + 1;
    const active = mutants.filter((one) => isInRange(one, request));
    if (active.length === 0) return [];
    let tree = snapshot;
    for (const one of active) tree = mutate(tree, one);
    return checkNumbers(row, request).map((check) => {
      const verdicts = active.flatMap((one) =>
        one.changes
          .filter((change) => change.request === request && change.check === check)
          .map((change) => change.verdict),
      );
      const worst = verdicts.sort((a, b) => badness[b] - badness[a])[0] ?? "YES";
      return {
        part,
        where: `${name} at ${String(request)}`,
        rowId: row.id,
        tree,
        request,
        check,
        allowed: [worst],
        ...(part === "mutants" ? { mutantId: name } : {}),
      };
    });
  });
}

function checkNumbers(row: TruthRow, request: number): number[] {
  return (row.requests[request - 1] ?? []).map((_, check) => check);
}

/** Decides a statement. */
export async function prove(judge: TreeJudge, statement: Statement): Promise<Outcome> {
  const ruling = await judge.decide(statement);
  return { ...statement, ruling, holds: statement.allowed.includes(ruling.verdict) };
}

/**
 * The statements CI proves: the changed checks of every mutant, three unchanged ones each, and what `parts` names in full.
 *
 * The three are picked by position so that all requests in range get their turn, the same on every machine.
 */
export function pickForCi(statements: readonly Statement[], parts: readonly Statement["part"][]): Statement[] {
  const ofMutants = statements.filter((one) => one.part === "mutants");
  const picked = [...new Set(ofMutants.map((one) => one.mutantId))].flatMap((id) => {
    const own = ofMutants.filter((one) => one.mutantId === id);
    const unchanged = own.filter((one) => one.allowed.includes("YES"));
    const others = [0, 1, 2].map((third) => unchanged[Math.floor(((third + 0.5) * unchanged.length) / 3)]);
    return [...own.filter((one) => !one.allowed.includes("YES")), ...others.filter((one) => one !== undefined)];
  });
  return [...statements.filter((one) => parts.includes(one.part)), ...picked];
}

/** Checks that failed nowhere in these outcomes, as "request.check"; a check that cannot fail proves nothing. */
export function neverFailing(row: TruthRow, outcomes: readonly Outcome[]): string[] {
  const failed = new Set(
    outcomes
      .filter((one) => one.rowId === row.id && one.part !== "second" && one.ruling.verdict !== "YES")
      .map((one) => `${String(one.request)}.${String(one.check)}`),
  );
  return row.requests
    .flatMap((checks, at) => checks.map((_, check) => `${String(at + 1)}.${String(check)}`))
    .filter((name) => !failed.has(name));
}

/** All statements of all rows of the data set. */
export async function listAll(): Promise<{ rows: TruthRow[]; statements: Statement[] }> {
  const rows = await readRows();
  return { rows, statements: (await Promise.all(rows.map((row) => listStatements(row)))).flat() };
}
