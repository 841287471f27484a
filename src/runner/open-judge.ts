import type { Dataset } from "../dataset/open-dataset.ts";
import { EvowebError } from "../errors.ts";
import type { Judge } from "../judge/judge.ts";
import { createEvidenceJudge } from "../judge/evidence/evidence-judge.ts";
import { createOracleJudge } from "../judge/oracle-judge.ts";
import { createWebvoyagerJudge } from "../judge/webvoyager/webvoyager-judge.ts";
import type { ChatModel } from "../model/chat.ts";
import type { RunOptions } from "./options.ts";

/**
 * The judge that the options name, or null when nothing is to be judged; `model` is the judge's model, null where none was
 * named. Throws `EvowebError("usage")` for a judge that cannot work with what there is.
 */
export async function openJudge(
  options: RunOptions,
  dataset: Dataset,
  model: ChatModel | null = null,
): Promise<Judge | null> {
  const { judge, agent, verdictRule } = options;
  const { name, truth, rows } = dataset;
  if (judge === "none") return null;
  if (judge === "webvoyager") {
    if (model === null)
      throw new EvowebError("usage", "--judge webvoyager needs a model, and none was named; add --judge-model NAME");
    return createWebvoyagerJudge({ model, verdictRule });
  }
  if (judge === "evidence") {
    if (model === undefined) throw new EvowebError("usage", "--judge evidence needs a model, and none was named");
    return createEvidenceJudge({ model });
  }
  if (truth !== null) {
    return createOracleJudge({
      rowIds: rows.map(({ id }) => id),
      oraclePath: (rowId) => (truth.hasOracle(rowId) ? truth.oraclePath(rowId) : null),
    });
  }
  if (judge === undefined && agent === "noop") return null;
  throw new EvowebError(
    "usage",
    `${name} has no oracles, so nothing here can judge it. Use --judge none to store snapshots only (every verdict is then MISSING)`,
  );
}
