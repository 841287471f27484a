import type { Completion, HalfCredit } from "./completion.ts";
import { ownObservations } from "./own-checks.ts";
import type { OwnObservation } from "./own-checks.ts";
import type { RowPlan } from "./row-plan.ts";
import { isUsable } from "./turns.ts";
import type { Ratio, TurnFlags } from "./turns.ts";

/** Where failures come from, and how edges of the graph held; primary reading. */
export interface Blame {
  /** 1-based unusable requests whose parents were all usable at their latest evidence. */
  readonly rootFailures: readonly number[];
  /** 1-based unusable requests with a parent that was not usable at its latest evidence. */
  readonly inheritedFailures: readonly number[];
  /** Integration YES, of answered requests with parents that were all usable at their latest evidence. */
  readonly irParentsOk: Ratio;
  /** Integration YES of requests without parents: a global rule was tested. */
  readonly ruleRate: Ratio;
}

interface Tally {
  yes: number;
  all: number;
}

/** Walks the requests in order, always judging parents by what was last seen of them before the request. */
export function blameApp(plan: RowPlan, completion: Completion, usable: TurnFlags): Blame {
  const latest: HalfCredit[][] = completion.turns.map((turn) => [...turn]);
  const roots: number[] = [];
  const inherited: number[] = [];
  const edges: Tally = { yes: 0, all: 0 };
  const rules: Tally = { yes: 0, all: 0 };
  for (const [index, request] of plan.requests.entries()) {
    const areParentsUsable = request.parents.every((parent) => {
      const planned = plan.requests[parent];
      return planned !== undefined && completion.up[parent] === true && isUsable(planned, latest[parent] ?? []);
    });
    if (usable[index] === false) (areParentsUsable ? roots : inherited).push(index + 1);
    const hasParents = request.parents.length > 0;
    if (!hasParents || (completion.responded[index] === true && areParentsUsable)) {
      countIntegration(hasParents ? edges : rules, request.checks, completion.turns[index] ?? []);
    }
    recordCopies(plan, ownObservations(plan, completion, index), latest);
  }
  return {
    rootFailures: roots,
    inheritedFailures: inherited,
    irParentsOk: [edges.yes, edges.all],
    ruleRate: [rules.yes, rules.all],
  };
}

function countIntegration(
  tally: Tally,
  checks: RowPlan["requests"][number]["checks"],
  credits: readonly HalfCredit[],
): void {
  for (const [position, check] of checks.entries()) {
    if (check.role !== "integration") continue;
    tally.all += 1;
    if (credits[position] === 2) tally.yes += 1;
  }
}

function recordCopies(plan: RowPlan, observations: readonly OwnObservation[], latest: HalfCredit[][]): void {
  for (const { own, credit } of observations) {
    const origin = plan.own[own];
    const turn = origin === undefined ? undefined : latest[origin.request];
    if (origin !== undefined && turn !== undefined) turn[origin.check] = credit;
  }
}
