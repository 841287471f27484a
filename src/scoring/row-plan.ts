import { findSource } from "../dataset/match-check.ts";
import type { Check, Row } from "../dataset/row.ts";

/** A check of a request as scoring sees it. */
interface PlannedCheck {
  readonly role: Check["role"];
  /** Position among the own checks of the whole row; for a backward check that of its source, null when none matches. */
  readonly own: number | null;
  /** True when a later request legitimately changed the expectation: the observation does not count at all. */
  readonly isDropped: boolean;
}

/** One request of a row as scoring sees it. */
export interface PlannedRequest {
  readonly archetype: string | null;
  readonly checks: readonly PlannedCheck[];
  /** Its checks that observe an own check of the row, at this request or (a copy) of an earlier one. */
  readonly observed: readonly { readonly own: number; readonly position: number; readonly isCopy: boolean }[];
  /** 0-based positions of the requests this one builds on. */
  readonly parents: readonly number[];
  /** Positions of its own checks among those of the row: `ownStart` to `ownEnd` (excluded). */
  readonly ownStart: number;
  readonly ownEnd: number;
}

/** What a row asks for, worked out once and used by all three completions. */
export interface RowPlan {
  readonly requests: readonly PlannedRequest[];
  /** Own checks of the row in order: where they stand, and whether later observations of them count. */
  readonly own: readonly { readonly request: number; readonly check: number; readonly isSuperseded: boolean }[];
  /** 1-based numbers of the requests whose backward check matches no earlier one. */
  readonly unmatched: readonly number[];
  /** 1-based numbers of the requests without checks; they leave Grade, Survival and APR. */
  readonly emptyRequests: readonly number[];
}

interface Draft {
  readonly own: { request: number; check: number; supersededAfter: number }[];
  readonly idOf: Map<number, number>;
}

const keyOf = (request: number, check: number): number => request * 4096 + check;

function collectOwn(row: Row): Draft {
  const draft: Draft = { own: [], idOf: new Map() };
  for (const [request, { checks }] of row.requests.entries()) {
    for (const [check, { role, superseded }] of checks.entries()) {
      if (role === "backward") continue;
      draft.idOf.set(keyOf(request, check), draft.own.length);
      draft.own.push({ request, check, supersededAfter: superseded === true ? request : Infinity });
    }
  }
  return draft;
}

function planCopy(row: Row, draft: Draft, place: { readonly request: number; readonly check: Check }): PlannedCheck {
  const { request, check } = place;
  const { role, copiedFromRequest } = check;
  // A copy of its own or a later request re-observes nothing.
  const source = (copiedFromRequest ?? Infinity) <= request ? findSource(row, check) : undefined;
  const own = source === undefined ? null : (draft.idOf.get(keyOf(source.request - 1, source.check)) ?? null);
  const origin = own === null ? undefined : draft.own[own];
  if (origin === undefined) return { role, own: null, isDropped: false };
  const isDropped = origin.supersededAfter < request;
  if (check.superseded === true) origin.supersededAfter = Math.min(origin.supersededAfter, request);
  return { role, own, isDropped };
}

function planChecks(row: Row, request: number, draft: Draft): PlannedCheck[] {
  return (row.requests[request]?.checks ?? []).map((check, index) =>
    check.role === "backward"
      ? planCopy(row, draft, { request, check })
      : { role: check.role, own: draft.idOf.get(keyOf(request, index)) ?? null, isDropped: false },
  );
}

// Runs of one data set share their rows, and a plan depends on nothing else.
const plans = new WeakMap<Row, RowPlan>();

/** Own checks, sources of backward checks and parents of a row. */
export function planRow(row: Row): RowPlan {
  const known = plans.get(row);
  if (known !== undefined) return known;
  const plan = makePlan(row);
  plans.set(row, plan);
  return plan;
}

function makePlan(row: Row): RowPlan {
  const draft = collectOwn(row);
  let ownStart = 0;
  const requests = row.requests.map((request, index): PlannedRequest => {
    const checks = planChecks(row, index, draft);
    const start = ownStart;
    ownStart += checks.filter((check) => check.role !== "backward").length;
    const parents = row.dependencies.filter((edge) => edge.to === index + 1).map((edge) => edge.from - 1);
    const observed = checks.flatMap(({ own, role, isDropped }, position) =>
      own === null || isDropped ? [] : [{ own, position, isCopy: role === "backward" }],
    );
    return { archetype: request.archetype ?? null, checks, observed, parents, ownStart: start, ownEnd: ownStart };
  });
  const numbers = (isMeant: (request: PlannedRequest) => boolean): number[] =>
    requests.flatMap((request, index) => (isMeant(request) ? [index + 1] : []));
  return {
    requests,
    own: draft.own.map(({ request, check, supersededAfter }) => ({
      request,
      check,
      isSuperseded: supersededAfter !== Infinity,
    })),
    unmatched: numbers(({ checks }) => checks.some((check) => check.role === "backward" && check.own === null)),
    emptyRequests: numbers(({ checks }) => checks.length === 0),
  };
}
