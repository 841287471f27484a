// A comparison for people: who is compared, what speaks against it, then a table for each pair. At most 100 columns.
import Table from "cli-table3";
import pc from "picocolors";
import { COMPARED_METRICS } from "../scoring/compared-metrics.ts";
import type { ComparedMetric } from "../scoring/compared-metrics.ts";
import type { ComparedValue, MetricComparison } from "../scoring/compare-sides.ts";
import type { PassAtK } from "../scoring/statistics/trials.ts";
import type { ComparedSide, Comparison } from "./comparison.ts";
import { BARE, STYLE, trimEnds } from "./table-style.ts";
import type { TableOptions } from "./table-style.ts";
import { wrapText } from "./wrap-text.ts";

type Colors = ReturnType<typeof pc.createColors>;
type Pair = Comparison["pairs"][number];
const WIDTH = 98;
const INDENT = "  ";

const wrap = (text: string): string[] => wrapText(text, WIDTH).split("\n");

/** A comparison as text that ends in a line feed. */
export function renderComparison(comparison: Comparison, { useColor }: TableOptions): string {
  const colors = pc.createColors(useColor);
  const blocks = [
    comparison.sides.flatMap((side) => sideLines(side, colors)),
    warningLines(comparison, colors),
    ...comparison.pairs.map((pair) => pairLines(pair, colors)),
    methodLines(comparison, colors),
    ...comparison.sides.map((side) => repeatLines(side)),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function sideLines({ name, paths, agent, complete }: ComparedSide, colors: Colors): string[] {
  const about = [agent === null ? "agent unknown" : `agent ${agent}`, ...(complete ? [] : ["INCOMPLETE"])];
  const [head = "", ...more] = wrap(`${name}  ${paths.join(", ")}`);
  return [colors.bold(head), ...more, `${INDENT}${complete ? about.join(" · ") : colors.yellow(about.join(" · "))}`];
}

function warningLines({ mismatches, isForced, sides }: Comparison, colors: Colors): string[] {
  const incomplete = sides.filter(({ complete }) => !complete).map(({ name }) => name);
  const lines = [
    ...(isForced
      ? ["NOT COMPARABLE: settings differ, and --allow-mismatch was given. No number here is a headline."]
      : []),
    ...mismatches.map(({ isFatal, text }) => `${isFatal ? "MISMATCH" : "Note"}: ${text}`),
    ...(incomplete.length === 0 ? [] : [`INCOMPLETE: ${incomplete.join(", ")}; pairs with it have no headline.`]),
  ];
  return lines.flatMap(wrap).map((line) => colors.bold(colors.yellow(line)));
}

function show(metric: ComparedMetric, value: number | null, sign = ""): string {
  if (value === null) return "n/a";
  const text = metric.kind === "ratio" ? `${(100 * value).toFixed(1)}%` : value.toFixed(2);
  return value > 0 ? `${sign}${text}` : text;
}

const showP = (p: number | null | undefined): string => {
  if (p === null || p === undefined) return "";
  return p < 0.0001 ? "<0.0001" : p.toFixed(4);
};

function cells(metric: ComparedMetric, value: ComparedValue): string[] {
  const { interval } = value;
  return [
    String(value.apps),
    show(metric, value.a),
    show(metric, value.b),
    show(metric, value.difference, "+"),
    interval === null ? "" : `${show(metric, interval.low, "+")}..${show(metric, interval.high, "+")}`,
    showP(value.test?.p),
    showP(value.adjustedP),
  ];
}

function metricRows(metric: ComparedMetric, { countedAsNo, excluded }: MetricComparison): string[][] {
  const asNo = cells(metric, countedAsNo);
  const without = cells(metric, excluded);
  if (asNo.join() === without.join()) return [[metric.label, "either", ...asNo]];
  return [
    [metric.label, "as NO", ...asNo],
    ["", "excluded", ...without],
  ];
}

function pairLines({ a, b, apps, metrics, isHeadline }: Pair, colors: Colors): string[] {
  const head = ["", "MISSING", "apps", a, b, `${b} - ${a}`, "95 %", "p", "Holm"].map((cell) => colors.bold(cell));
  const colAligns = ["left", "left", "right", "right", "right", "right", "left", "right", "right"] as const;
  const table = new Table({ chars: BARE, style: STYLE, head, colAligns: [...colAligns] });
  const torn: string[] = [];
  for (const metric of COMPARED_METRICS) {
    const found = metrics.find(({ metric: name }) => name === metric.name);
    if (found === undefined) continue;
    for (const row of metricRows(metric, found)) table.push(isHeadline ? row : row.map((cell) => colors.dim(cell)));
    if (!found.doPoliciesAgree) torn.push(metric.label);
  }
  const title = `${b} against ${a}, paired over ${apps.length} ${apps.length === 1 ? "app" : "apps"}`;
  const note = `The order depends on what is made of MISSING verdicts: ${torn.join(", ")}. Do not rank by it.`;
  return [
    colors.bold(isHeadline ? title : `${title} (no headline)`),
    ...trimEnds(table.toString()),
    ...(torn.length === 0 ? [] : wrap(note).map((line) => colors.bold(colors.yellow(line)))),
  ];
}

function methodLines({ method, pairs }: Comparison, colors: Colors): string[] {
  if (pairs.length === 0) return [];
  const text = `95 %: ${method.interval}. p: ${method.test}. Holm: over Grade, Survival, APR and br of all pairs; the other metrics explain and are not adjusted.`;
  return wrap(text).map((line) => colors.dim(line));
}

const percent = (share: number | null): string => (share === null ? "n/a" : `${(100 * share).toFixed(1)}%`);

function repeatLines({ name, repeats, trials }: ComparedSide): string[] {
  const { planned, missing, leftOut, avgAtK, byK } = trials;
  if (planned < 2) return [];
  const counted = byK[0]?.apps ?? 0;
  const kLine = ({ k, passAtK, passHatK }: PassAtK): string => {
    return `${INDENT}k = ${k}  pass@k ${percent(passAtK)}  pass^k ${percent(passHatK)}`;
  };
  return [
    ...wrap(
      `${name}: ${repeats} of ${planned} repeats, avg@${planned} ${percent(avgAtK)} over ${counted} apps (a trial passes when the app survives all requests)`,
    ),
    ...byK.map(kLine),
    ...(missing === 0
      ? []
      : wrap(
          `${INDENT}${missing} trials are missing; left out: ${leftOut.length === 0 ? "no app" : `app ${leftOut.join(", ")}`}`,
        )),
  ];
}
