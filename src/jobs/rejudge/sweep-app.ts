import type { CheckPlace } from "../../dataset/match-check.ts";
import type { SampledRow } from "../../dataset/row.ts";
import { judgeRequest } from "../../runner/judge-request.ts";
import type { AppJudging } from "../../runner/open-app-judging.ts";
import type { JudgeAgain } from "./open-source.ts";
import { planSweep, type SweepStep } from "./plan-sweep.ts";
import type { SourceRequest } from "./source-requests.ts";

/** What a sweep did on one snapshot of one app. */
export interface SweptSnapshot extends SweepStep {
  readonly sampleIndex: number;
}

/** What a sweep needs. */
export interface Sweep {
  readonly app: AppJudging;
  readonly sampled: SampledRow;
  readonly requests: readonly SourceRequest[];
  readonly again: JudgeAgain;
  readonly swept: (snapshot: SweptSnapshot) => void;
}

/** Judges own checks on the last snapshot, or on each one after their own. */
export async function sweepApp(sweep: Sweep): Promise<void> {
  const { app, sampled, again, swept } = sweep;
  const { sampleIndex } = sampled;
  const steps = again.sweep === "final" ? finalStep(sweep) : await eachStep(sweep);
  if (again.sweep === "each") app.trace.writeText("sweep.json", `${JSON.stringify(steps, undefined, 2)}\n`);
  for (const step of steps) {
    await sweepSnapshot(sweep, step);
    swept({ sampleIndex, ...step });
  }
}

/** As the final sweep of a run: all own checks, also superseded ones, which scoring leaves out by itself. */
function finalStep({ sampled: { row }, requests }: Sweep): readonly SweepStep[] {
  const last = row.requests.length;
  if (requests.find(({ request }) => request.number === last)?.snapshot == null) return [];
  const chosen = row.requests.flatMap(({ number, checks }) =>
    checks.flatMap(({ role }, check) => (role === "backward" ? [] : [{ request: number, check }])),
  );
  return [{ snapshot: last, touched: [], chosen, leftOut: [], reachableLeftOut: 0 }];
}

async function eachStep({ app, sampled: { row }, requests, again }: Sweep): Promise<readonly SweepStep[]> {
  const changedPaths: (readonly string[])[] = [];
  let before: string | null = null;
  for (const { snapshot } of requests) {
    if (snapshot === null) break;
    changedPaths.push(await app.store.changedPaths(before, snapshot.sha));
    before = snapshot.sha;
  }
  return planSweep({ row, changedPaths, ...(again.sweepBudget === undefined ? {} : { budget: again.sweepBudget }) });
}

async function sweepSnapshot({ app, sampled, requests, again }: Sweep, step: SweepStep): Promise<void> {
  const found = requests.find(({ request }) => request.number === step.snapshot)?.snapshot;
  if (found == null) throw new RangeError(`a sweep was planned on snapshot ${step.snapshot}, which does not exist`);
  const context = app.judging(found);
  const snapshot = again.sweep === "each" ? { snapshot: step.snapshot } : {};
  for (const request of sampled.row.requests) {
    const wanted = step.chosen.filter((place: CheckPlace) => place.request === request.number);
    const known = app.events.flatMap((event) =>
      event.type === "check_judged" &&
      event.request === request.number &&
      event.sweep === true &&
      event.snapshot === snapshot.snapshot
        ? [event.check]
        : [],
    );
    const checks = wanted.map(({ check }) => check).filter((check) => !known.includes(check));
    if (checks.length === 0) continue;
    const judged = new Set(request.checks.map((_, index) => index).filter((index) => !checks.includes(index)));
    await judgeRequest(context, { request, attempt: 1, pass: 1, judged, isSweep: true, ...snapshot });
  }
}
