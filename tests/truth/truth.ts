import { isInRange } from "../../src/dataset/mutants.ts";
import type { Mutant, Row } from "../../src/dataset/row.ts";
import { openTruth, type Truth } from "./ground-truth.ts";
import type { Question, Ruling, TreeJudge } from "./judge-tree.ts";

type Verdict = Ruling["verdict"];
type Part = "solution" | "second" | "sweep" | "vacuity" | "mutants" | "sets";

/** One statement of the ground truth: this check on this tree has one of these verdicts. */
export interface Statement extends Question {
  /** Which family of statements it belongs to. */
  readonly part: Part;
  /** What is replayed: a solution, a mutant or a set. */
  readonly spec: string;
  /** 1-based number of the snapshot. */
  readonly snapshot: number;
  readonly allowed: readonly Verdict[];
}

/** A statement and how it turned out. */
export interface Outcome extends Statement {
  readonly ruling: Ruling;
  readonly holds: boolean;
}

const yes: readonly Verdict[] = ["YES"];
const notYes: readonly Verdict[] = ["PARTIAL", "NO"];
const badness = { YES: 0, PARTIAL: 1, NO: 2 };

/** Everything the ground truth says, in the order of rows and parts. */
export async function listAll(): Promise<{ rows: readonly Row[]; statements: Statement[] }> {
  const opened = await openTruth();
  const lists = await Promise.all(opened.rows.map((row) => listStatements(opened, row)));
  return { rows: opened.rows, statements: lists.flat() };
}

interface Plan {
  readonly part: Part;
  readonly spec: string;
  readonly snapshot: number;
  /** 1-based request whose checks are asked; absent: that of the snapshot. */
  readonly request?: number;
  /** Verdicts allowed for a check; undefined leaves the check out. */
  readonly allowed: (check: number) => readonly Verdict[] | undefined;
}

async function listStatements(opened: Truth, row: Row): Promise<Statement[]> {
  const { truth } = opened;
  const oraclePath = truth.oraclePath(row.id);
  const statements = planAll(opened, row).map(async ({ part, spec, snapshot, request = snapshot, allowed }) => {
    const tree = await truth.replayTree(spec, row.id, snapshot);
    return (row.requests[request - 1]?.checks ?? []).flatMap((_, check) => {
      const verdicts = allowed(check);
      const where = { part, spec, snapshot, rowId: row.id, oraclePath, tree, request, check };
      return verdicts === undefined ? [] : [{ ...where, allowed: verdicts }];
    });
  });
  return (await Promise.all(statements)).flat();
}

function planAll({ truth, isSolved }: Truth, row: Row): Plan[] {
  const numbers = row.requests.map((request) => request.number);
  const last = numbers.length;
  const hasSecond = isSolved("second", row.id);
  return [
    ...numbers.map((snapshot): Plan => ({ part: "solution", spec: "solution", snapshot, allowed: () => yes })),
    ...numbers
      .filter(() => hasSecond)
      .map((snapshot): Plan => ({ part: "second", spec: "second", snapshot, allowed: () => yes })),
    // Own checks of every request on the last snapshot, as in a final sweep.
    ...row.requests.slice(0, -1).map(({ number, checks }): Plan => ({
      part: "sweep",
      spec: "solution",
      snapshot: last,
      request: number,
      allowed: (check) => (checks[check]?.role === "backward" || checks[check]?.superseded === true ? undefined : yes),
    })),
    // New checks on the snapshot before: an integration check may hold there, a functional one must not.
    ...numbers.slice(1).map((request): Plan => ({
      part: "vacuity",
      spec: "solution",
      snapshot: request - 1,
      request,
      allowed: (check) => (check < 3 ? notYes : check === 3 ? [...yes, ...notYes] : undefined),
    })),
    ...truth.mutants.filter((one) => one.row === row.id).flatMap((one) => planMutants(row, "mutants", [one.id, [one]])),
    ...truth.sets.flatMap(({ name, mutantIds }) =>
      planMutants(row, "sets", [name, truth.mutants.filter((one) => one.row === row.id && mutantIds.includes(one.id))]),
    ),
  ];
}

/** All requests in the range of any of these mutants; where several change a check, the worst verdict is expected. */
function planMutants(row: Row, part: Part, [spec, mutants]: readonly [string, readonly Mutant[]]): Plan[] {
  const inRange = row.requests.filter(({ number }) => mutants.some((one) => isInRange(one, number)));
  return inRange.map(({ number }) => ({
    part,
    spec,
    snapshot: number,
    allowed: (check) => {
      const verdicts = mutants
        .filter((one) => isInRange(one, number))
        .flatMap((one) => one.changes)
        .filter((change) => change.request === number && change.check === check)
        .map((change) => change.verdict);
      return [verdicts.sort((a, b) => badness[b] - badness[a])[0] ?? "YES"];
    },
  }));
}

/** Decides a statement. */
export async function prove(judge: TreeJudge, statement: Statement): Promise<Outcome> {
  const ruling = await judge.decide(statement);
  return { ...statement, ruling, holds: statement.allowed.includes(ruling.verdict) };
}

/** An outcome in words, such as "000001 mutants 000001-blank-page at 1: check 1.0 is NO, said YES". */
export function describeOutcome({ rowId, part, spec, snapshot, request, check, allowed, ruling }: Outcome): string {
  return `${rowId} ${part} ${spec} at ${snapshot}: check ${request}.${check} is ${ruling.verdict}, said ${allowed.join("|")}`;
}

/**
 * The statements CI proves: the changed checks of every mutant, three unchanged ones each, and for a check that no mutant
 * changes that it fails on the snapshot before its request.
 *
 * The three are picked by position so that early and late requests get their turn, the same on every machine.
 */
export function pickForCi(statements: readonly Statement[]): Statement[] {
  const ofMutants = statements.filter((one) => one.part === "mutants");
  const isChanged = (one: Statement): boolean => !one.allowed.includes("YES");
  const picked = [...new Set(ofMutants.map((one) => one.spec))].flatMap((id) => {
    const own = ofMutants.filter((one) => one.spec === id);
    const unchanged = own.filter((one) => !isChanged(one));
    const others = [0, 1, 2].map((third) => unchanged[Math.floor(((third + 0.5) * unchanged.length) / 3)]);
    return [...own.filter(isChanged), ...others.filter((one) => one !== undefined)];
  });
  const changed = new Set(ofMutants.filter(isChanged).map(nameOf));
  return [...picked, ...statements.filter((one) => one.part === "vacuity" && !changed.has(nameOf(one)))];
}

function nameOf({ rowId, request, check }: Pick<Question, "rowId" | "request" | "check">): string {
  return `${rowId} ${request}.${check}`;
}

/** Checks that failed nowhere in these outcomes, as "000001 3.2"; a check that cannot fail proves nothing. */
export function neverFailing(row: Row, outcomes: readonly Outcome[]): string[] {
  const failed = new Set(
    outcomes.filter((one) => one.rowId === row.id && one.part !== "second" && one.ruling.verdict !== "YES").map(nameOf),
  );
  return row.requests
    .flatMap(({ number, checks }) => checks.map((_, check) => nameOf({ rowId: row.id, request: number, check })))
    .filter((name) => !failed.has(name));
}
