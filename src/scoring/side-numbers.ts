import { UNSEEN } from "./completion.ts";
import type { Completion, HalfCredit } from "./completion.ts";
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

/** What was last seen of each request. */
interface Latest {
  readonly turns: HalfCredit[][];
  readonly isUsable: boolean[];
}

interface Tally {
  yes: number;
  all: number;
}

/** Walks the requests in order, always judging parents by what was last seen of them before the request. */
export function blameApp(plan: RowPlan, completion: Completion, usable: TurnFlags): Blame {
  const latest: Latest = {
    turns: completion.turns.map((turn) => [...turn]),
    isUsable: usable.map((flag) => flag !== false),
  };
  const roots: number[] = [];
  const inherited: number[] = [];
  const edges: Tally = { yes: 0, all: 0 };
  const rules: Tally = { yes: 0, all: 0 };
  for (const [index, request] of plan.requests.entries()) {
    const areParentsUsable = request.parents.every((parent) => latest.isUsable[parent] === true);
    if (usable[index] === false) (areParentsUsable ? roots : inherited).push(index + 1);
    const hasParents = request.parents.length > 0;
    if (!hasParents || (completion.responded[index] === true && areParentsUsable)) {
      countIntegration(hasParents ? edges : rules, request.checks, completion.turns[index] ?? []);
    }
    recordCopies({ plan, completion, index }, latest);
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

interface Step {
  readonly plan: RowPlan;
  readonly completion: Completion;
  readonly index: number;
}

/** Takes the copies a request observed over into the requests they were copied from. */
function recordCopies({ plan, completion, index }: Step, latest: Latest): void {
  for (const { own, position, isCopy } of plan.requests[index]?.observed ?? []) {
    const credit = completion.turns[index]?.[position] ?? UNSEEN;
    const origin = isCopy && credit !== UNSEEN ? plan.own[own] : undefined;
    if (origin !== undefined) updateOrigin({ plan, completion, index: origin.request }, latest, [origin.check, credit]);
  }
}

function updateOrigin({ plan, completion, index }: Step, latest: Latest, [check, credit]: [number, HalfCredit]): void {
  const turn = latest.turns[index];
  const request = plan.requests[index];
  if (turn === undefined || request === undefined || turn[check] === credit) return;
  turn[check] = credit;
  latest.isUsable[index] = completion.up[index] === true && isUsable(request, turn);
}
