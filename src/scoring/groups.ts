import type { SampledRow } from "../dataset/row.ts";
import { planRow } from "./row-plan.ts";
import type { AppScore } from "./score-app.ts";
import { meanMeasure, valueOf } from "./statistics/measure.ts";
import { wilson } from "./statistics/wilson.ts";
import type { Ratio } from "./turns.ts";
import { ROLES } from "./verdict-counts.ts";
import type { RoleCounts } from "./verdict-counts.ts";

/** A rate with its 95 % interval; null where it cannot be had. */
interface Rate {
  readonly counts: Ratio;
  readonly low: number | null;
  readonly high: number | null;
}

/** Checks of one role, over the turns. */
interface RoleGroup extends RoleCounts {
  readonly role: (typeof ROLES)[number];
}

/** Turns of requests of one archetype; "none" where the rows name none, as for request 1. */
interface ArchetypeGroup {
  readonly archetype: string;
  readonly turns: number;
  readonly strict: Ratio;
  readonly usable: Ratio;
  /** Unusable turns whose parents were all usable at their latest evidence. */
  readonly rootFailures: number;
  /** Unusable turns with a parent that was not. */
  readonly inheritedFailures: number;
}

/** One position in the sequence, over the apps. */
interface RequestGroup {
  /** 1-based. */
  readonly request: number;
  /** Wilson's interval: an app has one turn here. */
  readonly strict: Rate;
  readonly usable: Rate;
}

/** Apps of one split, where the rows name theirs in a field `split`. */
interface SplitGroup {
  readonly split: string;
  readonly apps: number;
  /** Means over the apps. */
  readonly grade: number | null;
  readonly survival: number | null;
}

/** The results of a run by what the checks, requests and rows are; primary reading. */
export interface Groups {
  readonly role: readonly RoleGroup[];
  readonly archetype: readonly ArchetypeGroup[];
  readonly request: readonly RequestGroup[];
  readonly split: readonly SplitGroup[];
}

/** One turn of one app. */
interface Turn {
  readonly request: number;
  readonly archetype: string;
  readonly strict: 0 | 1 | null;
  readonly usable: 0 | 1 | null;
  readonly failure: "root" | "inherited" | null;
}

function failureOf({ side }: AppScore, request: number): Turn["failure"] {
  if (side.rootFailures.includes(request)) return "root";
  return side.inheritedFailures.includes(request) ? "inherited" : null;
}

function turnsOf({ row }: SampledRow, app: AppScore): Turn[] {
  return planRow(row).requests.map(({ archetype }, index) => ({
    request: index + 1,
    archetype: archetype ?? "none",
    strict: app.primary.strict[index] ?? null,
    usable: app.primary.usable[index] ?? null,
    failure: failureOf(app, index + 1),
  }));
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const countOf = (flags: readonly (0 | 1 | null)[]): Ratio => [
  flags.filter((flag) => flag === 1).length,
  flags.filter((flag) => flag !== null).length,
];

function rateOf(counts: Ratio): Rate {
  const interval = wilson(counts);
  return { counts, low: interval?.low ?? null, high: interval?.high ?? null };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function byArchetype(turns: readonly Turn[]): ArchetypeGroup[] {
  return [...groupBy(turns, (turn) => turn.archetype)]
    .sort(([a], [b]) => compare(a, b))
    .map(([archetype, group]) => ({
      archetype,
      turns: group.length,
      strict: countOf(group.map((turn) => turn.strict)),
      usable: countOf(group.map((turn) => turn.usable)),
      rootFailures: group.filter((turn) => turn.failure === "root").length,
      inheritedFailures: group.filter((turn) => turn.failure === "inherited").length,
    }));
}

function byRequest(turns: readonly Turn[]): RequestGroup[] {
  return [...groupBy(turns, (turn) => turn.request)]
    .sort(([a], [b]) => a - b)
    .map(([request, group]) => ({
      request,
      strict: rateOf(countOf(group.map((turn) => turn.strict))),
      usable: rateOf(countOf(group.map((turn) => turn.usable))),
    }));
}

function meanOver(apps: readonly AppScore[], pick: (app: AppScore) => number | null): number | null {
  return valueOf(meanMeasure(apps.map(pick)));
}

function bySplit(rows: readonly SampledRow[], apps: readonly AppScore[]): SplitGroup[] {
  const named = rows.flatMap(({ row }, index) => {
    const split = row.raw["split"];
    const app = apps[index];
    return typeof split === "string" && app !== undefined ? [{ split, app }] : [];
  });
  return [...groupBy(named, ({ split }) => split)]
    .sort(([a], [b]) => compare(a, b))
    .map(([split, group]) => ({
      split,
      apps: group.length,
      grade: meanOver(
        group.map(({ app }) => app),
        ({ primary }) => primary.grade,
      ),
      survival: meanOver(
        group.map(({ app }) => app),
        ({ primary }) => primary.survival,
      ),
    }));
}

/** Groups the results of a run; `apps` are the scores of `rows`, in their order. */
export function groupResults(
  rows: readonly SampledRow[],
  apps: readonly AppScore[],
  roles: Readonly<Record<(typeof ROLES)[number], RoleCounts>>,
): Groups {
  const turns = rows.flatMap((row, index) => {
    const app = apps[index];
    return app === undefined ? [] : turnsOf(row, app);
  });
  return {
    role: ROLES.map((role) => ({ role, ...roles[role] })),
    archetype: byArchetype(turns),
    request: byRequest(turns),
    split: bySplit(rows, apps),
  };
}
