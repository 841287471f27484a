import type { AppObservations, Observation } from "../trace/observations.ts";
import { knownCause, knownClass } from "../trace/observations.ts";
import type { PlannedRequest, RowPlan } from "./row-plan.ts";

/** Why a group of checks was not YES. */
interface Shortfall {
  readonly verdict: "PARTIAL" | "NO" | "MISSING";
  /** Cause, unknown ones as `other`. */
  readonly cause: string;
  /** Failure class, unknown ones as `other`; null when none was given. */
  readonly class: string | null;
  readonly count: number;
}

/** Roles of checks in their order within a request. */
export const ROLES = ["functional", "integration", "backward"] as const;

/** Verdicts on the checks of one role. */
export interface RoleCounts {
  readonly planned: number;
  readonly yes: number;
  readonly missing: number;
}

/** Counts over the planned checks of all turns, backward checks included, the final sweep not. */
export interface VerdictCounts {
  readonly planned: number;
  readonly yes: number;
  readonly partial: number;
  readonly no: number;
  readonly missing: number;
  /** NO because the app was not there. */
  readonly appDown: number;
  /** Planned own checks of all requests. */
  readonly ownPlanned: number;
  /** Own checks without a verdict at their own request. */
  readonly ownMissing: number;
  /** Everything that was not YES, most frequent first. */
  readonly shortfalls: readonly Shortfall[];
  /** Observations of requests or checks that the row does not have; they count nowhere. */
  readonly strays: number;
  readonly roles: Readonly<Record<(typeof ROLES)[number], RoleCounts>>;
}

type MutableRole = { -readonly [Key in keyof RoleCounts]: RoleCounts[Key] };
type MutableRoles = Record<(typeof ROLES)[number], MutableRole>;

const noRoles = (): MutableRoles => ({
  functional: { planned: 0, yes: 0, missing: 0 },
  integration: { planned: 0, yes: 0, missing: 0 },
  backward: { planned: 0, yes: 0, missing: 0 },
});

const NOT_REACHED: Observation = { verdict: "MISSING", cause: "not_reached" };

interface Tally {
  YES: number;
  PARTIAL: number;
  NO: number;
  MISSING: number;
  appDown: number;
  readonly shortfalls: Map<string, number>;
  readonly roles: MutableRoles;
}

/** Counts the verdicts of one app's turns. */
export function countVerdicts(plan: RowPlan, app: AppObservations): VerdictCounts {
  const counts = { YES: 0, PARTIAL: 0, NO: 0, MISSING: 0, appDown: 0 };
  const tally: Tally = { ...counts, shortfalls: new Map(), roles: noRoles() };
  let planned = 0;
  for (const [index, request] of plan.requests.entries()) {
    planned += request.checks.length;
    countRequest(request, app.requests.get(index + 1)?.checks, tally);
  }
  return {
    planned,
    yes: tally.YES,
    partial: tally.PARTIAL,
    no: tally.NO,
    missing: tally.MISSING,
    appDown: tally.appDown,
    ownPlanned: plan.own.length,
    ownMissing: tally.roles.functional.missing + tally.roles.integration.missing,
    shortfalls: sortShortfalls(tally.shortfalls),
    strays: countStrays(plan, app),
    roles: tally.roles,
  };
}

function countRequest(request: PlannedRequest, seen: ReadonlyMap<number, Observation> | undefined, tally: Tally): void {
  for (const [position, check] of request.checks.entries()) {
    const observation = seen?.get(position) ?? NOT_REACHED;
    const { verdict, cause } = observation;
    tally[verdict] += 1;
    const role = tally.roles[check.role];
    role.planned += 1;
    if (verdict === "YES") {
      role.yes += 1;
      continue;
    }
    if (verdict === "NO" && cause === "app_down") tally.appDown += 1;
    if (verdict === "MISSING") role.missing += 1;
    const name = observation.class === undefined ? "" : knownClass(observation.class);
    const key = `${verdict} ${knownCause(cause)} ${name}`;
    tally.shortfalls.set(key, (tally.shortfalls.get(key) ?? 0) + 1);
  }
}

function countStrays(plan: RowPlan, app: AppObservations): number {
  let strays = 0;
  for (const [number, { checks }] of app.requests) {
    const planned = plan.requests[number - 1];
    if (planned === undefined) strays += Math.max(1, checks.size);
    else for (const check of checks.keys()) if (check >= planned.checks.length) strays += 1;
  }
  for (const [number, checks] of app.sweep ?? []) {
    for (const check of checks.keys()) {
      const role = plan.requests[number - 1]?.checks[check]?.role;
      if (role === undefined || role === "backward") strays += 1;
    }
  }
  return strays;
}

function sortShortfalls(counts: ReadonlyMap<string, number>): Shortfall[] {
  return [...counts]
    .map(([key, count]): Shortfall => {
      const [verdict = "", cause = "", name = ""] = key.split(" ");
      return { verdict: verdict as Shortfall["verdict"], cause, class: name === "" ? null : name, count };
    })
    .sort((a, b) => b.count - a.count || (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = (shortfall: Shortfall): string => `${shortfall.verdict} ${shortfall.cause} ${shortfall.class ?? ""}`;

const addTo = (counts: Map<string, number>, shortfalls: readonly Shortfall[]): void => {
  for (const shortfall of shortfalls) {
    counts.set(keyOf(shortfall), (counts.get(keyOf(shortfall)) ?? 0) + shortfall.count);
  }
};

function addRole(sum: MutableRole, { planned, yes, missing }: RoleCounts): void {
  sum.planned += planned;
  sum.yes += yes;
  sum.missing += missing;
}

/** Adds up the counts of several apps. */
export function sumCounts(parts: readonly VerdictCounts[]): VerdictCounts {
  const shortfalls = new Map<string, number>();
  const roles = noRoles();
  for (const part of parts) {
    addTo(shortfalls, part.shortfalls);
    for (const role of ROLES) addRole(roles[role], part.roles[role]);
  }
  const sum = (pick: (part: VerdictCounts) => number): number => parts.reduce((all, part) => all + pick(part), 0);
  return {
    planned: sum((part) => part.planned),
    yes: sum((part) => part.yes),
    partial: sum((part) => part.partial),
    no: sum((part) => part.no),
    missing: sum((part) => part.missing),
    appDown: sum((part) => part.appDown),
    ownPlanned: sum((part) => part.ownPlanned),
    ownMissing: sum((part) => part.ownMissing),
    shortfalls: sortShortfalls(shortfalls),
    strays: sum((part) => part.strays),
    roles,
  };
}
