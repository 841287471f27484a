// The table a sweep ends with: a row per agent and model, a column per split, below each value its difference to the reference.
import Table from "cli-table3";
import pc from "picocolors";
import { COMPARED_METRICS } from "../scoring/compared-metrics.ts";
import type { ComparedMetric } from "../scoring/compared-metrics.ts";
import type { ComparedValue } from "../scoring/compare-sides.ts";
import { BARE, STYLE, trimEnds } from "./table-style.ts";
import type { TableOptions } from "./table-style.ts";

/** One value of a split, and its difference to the reference split over the apps that both have. */
export interface SweepValue {
  readonly metric: string;
  /** Missing verdicts count as NO; null where nothing was measured. */
  readonly value: number | null;
  /** Null for the reference itself, or when it was not run. */
  readonly toReference: Pick<ComparedValue, "apps" | "difference" | "interval"> | null;
}

/** The runs of one agent and model on one split. */
export interface SweepColumn {
  readonly split: string;
  /** Repeats that have any result. */
  readonly repeats: number;
  /** Whether every repeat is there and has every verdict. */
  readonly complete: boolean;
  readonly values: readonly SweepValue[];
}

/** What a sweep found; the document of `evoweb sweep --json`. */
export interface SweepTable {
  readonly definition: "v1";
  /** The split others are compared with: "test", or the first one. */
  readonly reference: string;
  readonly repeats: number;
  readonly complete: boolean;
  readonly rows: readonly {
    readonly agent: string;
    readonly model: string | null;
    readonly columns: readonly SweepColumn[];
  }[];
}

function show({ kind }: ComparedMetric, value: number | null, sign = ""): string {
  if (value === null) return "n/a";
  const text = kind === "ratio" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
  return value > 0 ? `${sign}${text}` : text;
}

function cell(metric: ComparedMetric, column: SweepColumn): string {
  const found = column.values.find(({ metric: name }) => name === metric.name);
  if (found === undefined) return "not run";
  const value = `${show(metric, found.value)}${column.complete ? "" : " *"}`;
  if (found.toReference === null) return value;
  const { difference, interval } = found.toReference;
  const range = interval === null ? [] : [`${show(metric, interval.low, "+")}..${show(metric, interval.high, "+")}`];
  return [value, show(metric, difference, "+"), ...range].join("\n");
}

/** A sweep as text that ends in a line feed, one metric in the cells. */
export function renderSweep(table: SweepTable, metricName: string, { useColor }: TableOptions): string {
  const colors = pc.createColors(useColor);
  const metric = COMPARED_METRICS.find(({ name }) => name === metricName);
  if (metric === undefined) throw new RangeError(`no metric is called ${metricName}`);
  const splits = table.rows[0]?.columns.map(({ split }) => split) ?? [];
  const head = [metric.label, "", ...splits].map((text) => colors.bold(text));
  const output = new Table({ chars: BARE, style: STYLE, head });
  for (const { agent, model, columns } of table.rows) {
    output.push([agent, model ?? "", ...columns.map((column) => cell(metric, column))]);
  }
  const notes = [
    `Missing verdicts count as NO. Below a value: its difference to ${table.reference}, paired by app, with the 95 % interval of a paired bootstrap.`,
    ...(table.complete
      ? []
      : ["* INCOMPLETE: runs or verdicts are missing; go on with --resume and the sweep's folder."]),
  ];
  return `${[...trimEnds(output.toString()), "", ...notes.map((note) => colors.dim(note))].join("\n")}\n`;
}
