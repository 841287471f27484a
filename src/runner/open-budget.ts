import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SampledRow } from "../dataset/row.ts";
import type { TraceEvent } from "../trace/event.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName } from "../trace/run-folder.ts";
import { openAppFolder, type SharedJudging } from "./open-app-judging.ts";
import type { RunOptions } from "./options.ts";
import { progressOf } from "./progress.ts";
import { createRunBudget, type RunBudget } from "./run-budget.ts";

/** A budget that hears what the apps write. */
interface OpenBudget extends RunBudget {
  /** What hears each event besides the budget. */
  listenTo(listen: (event: TraceEvent) => void): (event: TraceEvent) => void;
}

/** The budget of a run folder, with what earlier starts took. */
export function openBudget(
  options: RunOptions,
  { dir, rows }: { readonly dir: string; readonly rows: readonly SampledRow[] },
): OpenBudget {
  const began = performance.now();
  const budget = createRunBudget(options, () => performance.now() - began);
  const isBounded = [options.budgetUsd, options.budgetTokens, options.deadlineMs].some((limit) => limit !== undefined);
  for (const { sampleIndex } of isBounded ? rows : []) {
    const path = join(dir, appDirName(sampleIndex), "trace.jsonl");
    if (existsSync(path)) readTrace(path, sampleIndex).events.forEach((event) => budget.note(event));
  }
  const listenTo = (listen: (event: TraceEvent) => void) => (event: TraceEvent) => {
    budget.note(event);
    listen(event);
  };
  return { ...budget, listenTo };
}

/** Whether an app may begin; one that may not is on record as stopped, so that a later start goes on with it. */
export function mayBegin(
  shared: Pick<SharedJudging, "dir" | "mask" | "listen" | "signal"> & { readonly budget: RunBudget },
  { sampleIndex, row }: SampledRow,
  say: (line: string) => void,
): boolean {
  const { budget, signal } = shared;
  signal.throwIfAborted();
  const cause = budget.admit(sampleIndex);
  if (cause === null) {
    const expected = budget.forecast();
    if (expected !== null && expected.tokens > 0) {
      say(`app ${sampleIndex}: about ${Math.round(expected.tokens)} tokens, $${expected.usd.toFixed(2)} expected`);
    }
    return true;
  }
  using app = openAppFolder(shared, { sampleIndex });
  if (!progressOf(app.events, row.requests.length).isComplete) {
    app.trace.emit(1, { type: "app_finished", status: "stopped", cause });
    app.trace.sync();
  }
  return false;
}
