import { UNSEEN } from "./completion.ts";
import type { Completion, HalfCredit } from "./completion.ts";
import type { RowPlan } from "./row-plan.ts";
import type { Ratio } from "./turns.ts";

/** The own checks of a row followed through its requests. */
export interface OwnChecks {
  /** Half credit at the check's own request; 0 when it was not observed. */
  readonly first: readonly HalfCredit[];
  /** Half credit at the last observation; 0 when there was none. */
  readonly last: readonly HalfCredit[];
  /** Backward re-observations now YES, of those whose previous verdict was YES. */
  readonly br: Ratio;
  /** Backward re-observations now YES, of those whose previous verdict was PARTIAL or NO. */
  readonly lateRepair: Ratio;
}

/** One observation of an own check that counts, at its own request or later. */
export interface OwnObservation {
  /** Position of the own check in the row. */
  readonly own: number;
  readonly isCopy: boolean;
  readonly credit: HalfCredit;
}

/** The observations of own checks that one request made, in order; those that are missing or dropped left out. */
export function ownObservations(plan: RowPlan, completion: Completion, index: number): OwnObservation[] {
  const credits = completion.turns[index] ?? [];
  return (plan.requests[index]?.checks ?? []).flatMap(({ own, role, isDropped }, position) => {
    const credit = credits[position] ?? UNSEEN;
    return own === null || isDropped || credit === UNSEEN ? [] : [{ own, isCopy: role === "backward", credit }];
  });
}

interface Tally {
  yes: number;
  all: number;
}

function countCopy(tally: Tally, credit: HalfCredit): void {
  tally.all += 1;
  if (credit === 2) tally.yes += 1;
}

/** Follows every own check in request order; the final sweep comes last and is no re-observation for `br`. */
export function followOwnChecks(plan: RowPlan, completion: Completion): OwnChecks {
  const first: HalfCredit[] = plan.own.map(() => 0);
  const last: HalfCredit[] = plan.own.map(() => UNSEEN);
  const kept: Tally = { yes: 0, all: 0 };
  const repaired: Tally = { yes: 0, all: 0 };
  for (const index of plan.requests.keys()) {
    for (const { own, isCopy, credit } of ownObservations(plan, completion, index)) {
      const before = last[own] ?? UNSEEN;
      last[own] = credit;
      if (!isCopy) first[own] = credit;
      else if (before !== UNSEEN) countCopy(before === 2 ? kept : repaired, credit);
    }
  }
  for (const [id, credit] of (completion.sweep ?? []).entries()) {
    if (credit !== UNSEEN && plan.own[id]?.isSuperseded !== true) last[id] = credit;
  }
  return {
    first,
    last: last.map((credit) => Math.max(0, credit)),
    br: [kept.yes, kept.all],
    lateRepair: [repaired.yes, repaired.all],
  };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** How many credits of all requests but the last were lost: net (repairs hide losses) and gross; null when none were ever earned. */
export function forgetting(plan: RowPlan, own: OwnChecks): { frNet: number | null; frGross: number | null } {
  const end = plan.requests.at(-1)?.ownStart ?? 0;
  const first = own.first.slice(0, end);
  const last = own.last.slice(0, end);
  const earned = sumOf(first);
  const passed = first.filter((credit) => credit === 2).length;
  const lost = first.filter((credit, id) => credit === 2 && (last[id] ?? 0) < 2).length;
  return {
    frNet: earned === 0 ? null : 1 - sumOf(last) / earned,
    frGross: passed === 0 ? null : lost / passed,
  };
}
