import { stringify } from "yaml";
import type { RunFolder } from "../trace/run-folder.ts";
import { scoreFolder } from "./run-score.ts";

/** The headline of a run as entries of a model repository's `.eval_results/*.yaml`; numbers that do not exist are left out. */
export function* evalResults(folder: RunFolder): Generator<string> {
  const { run } = scoreFolder(folder);
  const { dataset, evoweb } = folder.run.provenance;
  const date = folder.runEvents.find(({ type }) => type === "run_started")?.time;
  const notes = `evoweb ${evoweb.version}, definition ${run.definition}${run.complete ? "" : ", incomplete"}`;
  const values = [
    ["grade", run.grade],
    ["survival", run.survival],
    ["webgen_accuracy", run.webgen?.legacy.accuracy ?? null],
  ] as const;
  const entries = values
    .filter(([, value]) => value !== null)
    .map(([task, value]) => ({
      dataset: {
        id: dataset.name,
        task_id: task,
        ...(dataset.revision === null ? {} : { revision: dataset.revision }),
      },
      value,
      ...(date === undefined ? {} : { date }),
      notes,
    }));
  yield stringify(entries);
}
