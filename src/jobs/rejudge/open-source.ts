import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";

import { openDataset, type Dataset } from "../../dataset/open-dataset.ts";
import { EvowebError } from "../../errors.ts";
import { RunOptions } from "../../runner/options.ts";
import { sourceOf } from "../../runner/row-source.ts";
import type { TraceEvent } from "../../trace/event.ts";
import { readTrace } from "../../trace/reader.ts";
import { appDirName, readRunPlan, type RunPlan } from "../../trace/run-folder.ts";
import { ONLY } from "./select-checks.ts";

/** What is judged again and how; kept in the new run's run.json, so that an interrupted job can go on. */
export const JudgeAgain = z.strictObject({
  /** Sample indexes such as "1,3-5"; absent: all of the run. */
  apps: z.string().optional(),
  /** Request numbers such as "2,4-6"; absent: all. */
  requests: z.string().optional(),
  /** Only checks with one of these verdicts in the source; absent: all. */
  only: z.array(z.enum(ONLY)).optional(),
  /** "evidence": rules on what was stored, without looking at the app. */
  from: z.enum(["snapshots", "evidence"]).default("snapshots"),
  /** Passes over the same checks; the last one counts. */
  repeats: z.int().min(1).max(100).default(1),
  /** Own checks on the last or on each snapshot instead of the ordinary verdicts. */
  sweep: z.enum(["final", "each"]).optional(),
  /** Most checks of a snapshot in a sweep of each; absent: all. */
  sweepBudget: z.int().min(0).optional(),
});
export type JudgeAgain = z.infer<typeof JudgeAgain>;

/** A run that is judged again. */
export interface Source {
  readonly plan: RunPlan;
  /** As the run was started with. */
  readonly options: RunOptions;
}

/** Opens the run to judge again. @throws EvowebError `trace` when it is none. */
export function openSource(dir: string): Source {
  const plan = readRunPlan(dir);
  return { plan, options: RunOptions.parse(plan.run.options) };
}

/** The source and selection of a run folder that judged another run again. @throws EvowebError `usage` when it did not. */
export function readAgain(dir: string): { readonly path: string; readonly again: JudgeAgain } {
  const { source } = readRunPlan(dir).run;
  if (source === undefined) {
    throw new EvowebError(
      "usage",
      `${dir} is no run that judged another one again. Go on with it by evoweb run --resume`,
    );
  }
  return { path: source.path, again: JudgeAgain.parse(source["again"]) };
}

/** Events of one app of the source; empty when it was never started. @throws EvowebError `trace` or `io`. */
export function sourceEvents({ plan }: Source, sampleIndex: number): readonly TraceEvent[] {
  const path = join(sourceDir(plan, sampleIndex), "trace.jsonl");
  return existsSync(path) ? readTrace(path, sampleIndex).events : [];
}

/** Folder of one app of the source. */
export function sourceDir(plan: Pick<RunPlan, "dir">, sampleIndex: number): string {
  return join(resolve(plan.dir), appDirName(sampleIndex));
}

/**
 * The data set that a judge is opened with. Only oracles need more of it than the run folder has.
 *
 * @throws EvowebError `dataset` when the data set is not what the run was judged with.
 */
export async function datasetOf({ plan }: Source, options: RunOptions): Promise<Dataset> {
  const { dataset } = plan.run.provenance;
  const rows = plan.rows.map(({ row }) => row);
  if (options.judge !== undefined && options.judge !== "oracle") {
    const { name, contentHash, revision } = dataset;
    return { name, config: null, split: null, revision, dir: null, contentHash, apps: plan.rows, rows, truth: null };
  }
  const opened = await openDataset(options.dataset, sourceOf(options, plan.run, {}));
  if (opened.contentHash === dataset.contentHash) return { ...opened, apps: plan.rows, rows };
  throw new EvowebError(
    "dataset",
    `${options.dataset} has changed since ${plan.dir} (${dataset.contentHash.slice(0, 12)} then, ` +
      `${opened.contentHash.slice(0, 12)} now): ` +
      "its oracles would answer other questions. Use the data set of the run, or a judge that needs no oracles",
  );
}
