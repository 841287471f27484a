import { UNSEEN } from "./completion.ts";
import type { Completion, HalfCredit } from "./completion.ts";
import type { PlannedRequest, RowPlan } from "./row-plan.ts";

/** Whether each turn passed, by request; null for a request without checks, which leaves every count. */
export type TurnFlags = readonly (boolean | null)[];

/** Two thirds of the functional credit, and half of what integration and backward checks could give. */
export function isUsable(request: PlannedRequest, credits: readonly HalfCredit[]): boolean {
  let functional = 0;
  let functionalCount = 0;
  let rest = 0;
  let restCount = 0;
  for (const [index, check] of request.checks.entries()) {
    if (check.isDropped) continue;
    const credit = Math.max(0, credits[index] ?? UNSEEN);
    if (check.role === "functional") {
      functional += credit;
      functionalCount += 1;
    } else {
      rest += credit;
      restCount += 1;
    }
  }
  return 3 * functional >= 4 * functionalCount && rest >= restCount;
}

function isStrict(request: PlannedRequest, credits: readonly HalfCredit[]): boolean {
  return request.checks.every((check, index) => check.isDropped || credits[index] === 2);
}

type TurnRule = (request: PlannedRequest, credits: readonly HalfCredit[]) => boolean;

function flagTurns(plan: RowPlan, completion: Completion, rule: TurnRule): TurnFlags {
  return plan.requests.map((request, index) =>
    request.checks.length === 0 ? null : completion.up[index] === true && rule(request, completion.turns[index] ?? []),
  );
}

/** Turn Pass: app up and every check YES. */
export function strictTurns(plan: RowPlan, completion: Completion): TurnFlags {
  return flagTurns(plan, completion, isStrict);
}

/** Usable turns: app up, two thirds of functional credit, integration and backward not both lost. */
export function usableTurns(plan: RowPlan, completion: Completion): TurnFlags {
  return flagTurns(plan, completion, isUsable);
}

/** Number of turns passed before the first that was not. */
export function leadingRun(flags: TurnFlags): number {
  const counted = flags.filter((flag) => flag !== null);
  const end = counted.indexOf(false);
  return end === -1 ? counted.length : end;
}

/** Length of the longest run of passed turns anywhere. */
export function longestRun(flags: TurnFlags): number {
  let longest = 0;
  let run = 0;
  for (const flag of flags) {
    if (flag === null) continue;
    run = flag ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** A numerator and its denominator; `[0, 0]` says that nothing could be counted. */
export type Ratio = readonly [numerator: number, denominator: number];

/** Of the passed turns whose successor was answered, how many were followed by a passed turn. */
export function passRetention(
  flags: TurnFlags,
  responded: readonly (boolean | null)[],
  isCounted: (index: number) => boolean = () => true,
): Ratio {
  let kept = 0;
  let all = 0;
  for (let index = 1; index < flags.length; index += 1) {
    if (flags[index - 1] !== true || flags[index] === null || responded[index] !== true) continue;
    if (!isCounted(index - 1) || !isCounted(index)) continue;
    all += 1;
    if (flags[index] === true) kept += 1;
  }
  return [kept, all];
}
