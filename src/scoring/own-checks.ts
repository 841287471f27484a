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
  for (const [index, { observed }] of plan.requests.entries()) {
    const credits = completion.turns[index] ?? [];
    for (const { own, position, isCopy } of observed) {
      const credit = credits[position] ?? UNSEEN;
      if (credit === UNSEEN) continue;
      const before = last[own] ?? UNSEEN;
      last[own] = credit;
      if (!isCopy) first[own] = credit;
      else if (before !== UNSEEN) countCopy(before === 2 ? kept : repaired, credit);
    }
  }
  applySweep(plan, completion.sweep ?? [], last);
  return {
    first,
    last: last.map((credit) => Math.max(0, credit)),
    br: [kept.yes, kept.all],
    lateRepair: [repaired.yes, repaired.all],
  };
}

function applySweep(plan: RowPlan, sweep: readonly HalfCredit[], last: HalfCredit[]): void {
  for (const [id, credit] of sweep.entries()) {
    if (credit !== UNSEEN && plan.own[id]?.isSuperseded !== true) last[id] = credit;
  }
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
