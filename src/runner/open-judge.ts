import type { Dataset } from "../dataset/open-dataset.ts";
import { EvowebError } from "../errors.ts";
import type { Judge } from "../judge/judge.ts";
import { createOracleJudge } from "../judge/oracle-judge.ts";
import type { RunOptions } from "./options.ts";

/** The judge that the options name, or null when nothing is to be judged. */
export async function openJudge({ judge, agent }: RunOptions, { name, truth, rows }: Dataset): Promise<Judge | null> {
  if (judge === "none") return null;
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
