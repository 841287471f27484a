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
  const kind = options.judge ?? defaultJudge(options, dataset);
  if (kind === "none") return null;
  if (kind === "oracle") return openOracleJudge(dataset);
  if (kind === "evidence") return createEvidenceJudge({ model: required(model, kind) });
  return createWebvoyagerJudge({ model: required(model, kind), verdictRule: options.verdictRule });
}

// A named model is there to judge; without one, only executable checks can.
function defaultJudge({ judgeModel, agent }: RunOptions, { truth }: Dataset): NonNullable<RunOptions["judge"]> {
  if (judgeModel !== undefined) return "evidence";
  return truth === null && agent === "noop" ? "none" : "oracle";
}

function required(model: ChatModel | null, judge: string): ChatModel {
  if (model !== null) return model;
  throw new EvowebError("usage", `--judge ${judge} needs a model, and none was named; add --judge-model NAME`);
}

async function openOracleJudge({ name, truth, rows }: Dataset): Promise<Judge> {
  if (truth === null) {
    throw new EvowebError(
      "usage",
      `${name} has no oracles. Name a model that judges (--judge-model NAME), or use --judge none to store snapshots only ` +
        "(every verdict is then MISSING)",
    );
  }
  return createOracleJudge({
    rowIds: rows.map(({ id }) => id),
    oraclePath: (rowId) => (truth.hasOracle(rowId) ? truth.oraclePath(rowId) : null),
  });
}
