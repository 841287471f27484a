import type { SampledRow } from "../dataset/row.ts";
import type { AppObservations } from "../trace/observations.ts";

/** Results of another layout, opened for reading app by app. */
export interface ImportSource extends Disposable {
  /** Apps that the results are about, with those that left nothing. */
  readonly planned: readonly SampledRow[];
  /** Null where the source does not say. */
  readonly isolation: "check" | "request" | null;
  readonly observation: "locf" | "sweep" | null;
  /** Reads one planned app; what is missing or damaged is noted as a problem, not thrown. */
  read(sampled: SampledRow): AppObservations;
}
