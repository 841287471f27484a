import type { HalfCredit } from "./completion.ts";
import type { RowPlan } from "./row-plan.ts";

type CreditRule = (credit: HalfCredit) => number;

const halves: CreditRule = (credit) => credit / 2;
const strictly: CreditRule = (credit) => (credit === 2 ? 1 : 0);
const leniently: CreditRule = (credit) => (credit > 0 ? 1 : 0);

/** Grade and its relatives, each 0..100; null when no request has a check. */
export interface Grades {
  /** Last observations, gated by the app being up at the end. */
  readonly grade: number | null;
  readonly gradeUngated: number | null;
  /** Counts a request only when everything it builds on is sound. */
  readonly gradeDag: number | null;
  /** PARTIAL earns nothing. */
  readonly gradeStrict: number | null;
  /** PARTIAL earns all. */
  readonly gradeLenient: number | null;
}

function meanCredits(plan: RowPlan, credits: readonly HalfCredit[], rule: CreditRule): (number | null)[] {
  return plan.requests.map(({ checks, ownStart, ownEnd }) => {
    if (checks.length === 0 || ownEnd === ownStart) return null;
    let sum = 0;
    for (let id = ownStart; id < ownEnd; id += 1) sum += rule(credits[id] ?? 0);
    return sum / (ownEnd - ownStart);
  });
}

function percentOf(means: readonly (number | null)[]): number | null {
  const counted = means.filter((mean) => mean !== null);
  if (counted.length === 0) return null;
  return (100 * counted.reduce((sum, mean) => sum + mean, 0)) / counted.length;
}

/** Whether the parents of each request are sound: two thirds of the own credit, and sound parents themselves. */
function soundParents(plan: RowPlan, credits: readonly HalfCredit[]): boolean[] {
  const sound: boolean[] = [];
  return plan.requests.map(({ ownStart, ownEnd, parents }) => {
    const areParentsSound = parents.every((parent) => sound[parent] === true);
    let sum = 0;
    for (let id = ownStart; id < ownEnd; id += 1) sum += credits[id] ?? 0;
    sound.push(areParentsSound && 3 * sum >= 4 * (ownEnd - ownStart));
    return areParentsSound;
  });
}

/** Mean credit of a row's requests in percent, each request weighing the same; null when no request has a check. */
export function percentBuilt(plan: RowPlan, first: readonly HalfCredit[]): number | null {
  return percentOf(meanCredits(plan, first, halves));
}

/** Grades the last observations of an app. */
export function gradeApp(plan: RowPlan, last: readonly HalfCredit[], isUpAtEnd: boolean): Grades {
  const means = meanCredits(plan, last, halves);
  const areSound = soundParents(plan, last);
  const gate = (percent: number | null): number | null => (percent === null || isUpAtEnd ? percent : 0);
  return {
    grade: gate(percentOf(means)),
    gradeUngated: percentOf(means),
    gradeDag: gate(percentOf(means.map((mean, index) => (mean === null || areSound[index] === true ? mean : 0)))),
    gradeStrict: gate(percentOf(meanCredits(plan, last, strictly))),
    gradeLenient: gate(percentOf(meanCredits(plan, last, leniently))),
  };
}
