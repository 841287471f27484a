// A score for people: what is missing first, then the numbers, then why they are not better. Plain text, at most 100 columns.
import Table from "cli-table3";
import pc from "picocolors";
import type { AppMetrics, AppScore } from "../scoring/score-app.ts";
import type { Interval } from "../scoring/statistics/bootstrap.ts";
import type { Score } from "../scoring/score.ts";
import type { RunMetrics, RunScore } from "../scoring/score-run.ts";
import type { Ratio } from "../scoring/turns.ts";
import type { RunJson } from "../trace/run-json.ts";
import { effortLines } from "./effort-lines.ts";
import { formatCounts, formatNumber, formatPercent, formatRanges, formatRatio } from "./format.ts";
import { curveLines, intervalNote, meanInterval, shareInterval } from "./statistics-lines.ts";
import type { ScoredSource } from "./score-source.ts";
import { BARE, STYLE, trimEnds } from "./table-style.ts";
import type { TableOptions } from "./table-style.ts";
import { wrapText } from "./wrap-text.ts";

type Colors = ReturnType<typeof pc.createColors>;
const WIDTH = 98;
const INDENT = "  ";

/** The score of one source as text that ends in a line feed. */
export function renderScore(source: ScoredSource, { useColor }: TableOptions): string {
  const colors = pc.createColors(useColor);
  const { run, apps } = source.score;
  const blocks = [
    titleLines(source, colors),
    coverageLines(run, colors),
    headlineLines(run, colors),
    curveLines(run.survivalCurve.points).map((line) => INDENT + line),
    appLines(apps, colors),
    shortfallLines(run, colors),
    effortLines(source).map((line) => INDENT + line),
    noteLines(source, colors),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function judgeName({ imported, provenance }: RunJson): string {
  return imported === undefined ? (provenance.judge?.name ?? "none") : (imported.judge ?? "unknown");
}

function titleLines({ path, run, score }: ScoredSource, colors: Colors): string[] {
  const { observation, isolation } = score.run;
  const about = [
    ...(run === null
      ? []
      : [
          datasetText(run.provenance.dataset),
          `agent ${run.provenance.agent.name ?? "unknown"}`,
          `judge ${judgeName(run)}`,
          ...(run.imported === undefined ? [] : [`imported from ${run.imported.layout}`]),
        ]),
    ...(run !== null && run.repeat.of > 1 ? [`repeat ${run.repeat.index} of ${run.repeat.of}`] : []),
    ...(isolation === null ? [] : [`isolation ${isolation}`]),
    `observation ${observation}`,
    `definition ${score.definition}`,
  ];
  return [colors.bold(path), colors.dim(wrapText(about.join(" · "), WIDTH))];
}

// The usual split goes without saying.
function datasetText({ name, split }: { readonly name: string; readonly [field: string]: unknown }): string {
  return typeof split === "string" && split !== "test" ? `${name}, split ${split}` : name;
}

function missingText(run: RunScore, apps: number): string {
  const { notRun } = run.side;
  const isWhole = (requests: readonly number[], states: number): boolean => requests.length === states;
  const whole = notRun
    .filter(({ requests, planned }) => isWhole(requests, planned))
    .map(({ sampleIndex }) => sampleIndex);
  const partly = notRun.filter(({ requests, planned }) => !isWhole(requests, planned));
  const parts = [
    ...(whole.length === 0 ? [] : [`${apps === 1 || whole.length === 1 ? "app" : "apps"} ${formatRanges(whole)}`]),
    ...partly.map(({ sampleIndex, requests }) => {
      return `${requests.length === 1 ? "request" : "requests"} ${formatRanges(requests)} of app ${sampleIndex}`;
    }),
  ];
  return parts.join("; ");
}

function coverageLines(run: RunScore, colors: Colors): string[] {
  const { planned, requestsRun, missing, side } = run;
  const unbuilt =
    side.notBuilt > 0 ? `; ${side.notBuilt} not run because the agent left nothing to build on (failed)` : "";
  const lost = side.notRun.length === 0 ? "" : `; missing: ${missingText(run, side.plannedApps)}`;
  const lines = wrapText(`${requestsRun} of ${planned} requests ran${unbuilt}${lost}`, WIDTH).split("\n");
  if (run.complete) return lines;
  const reason =
    planned === 0
      ? "nothing was planned and nothing ran"
      : `${formatRatio(missing)} of the own checks have no verdict; at most 2.0% may be missing, and all requests must run`;
  return [
    ...lines.map((line) => colors.yellow(line)),
    ...wrapText(`INCOMPLETE: these numbers are no headline (${reason}).`, WIDTH)
      .split("\n")
      .map((line) => colors.bold(colors.yellow(line))),
  ];
}

const span = (lo: string, hi: string): string => `${lo}..${hi}`;

function headlineLines(run: Score["run"], colors: Colors): string[] {
  const table = new Table({ chars: BARE, style: STYLE, colAligns: ["left", "right", "left", "left", "left", "left"] });
  const { lo, hi, side, intervals } = run;
  const bold = run.complete ? colors.bold : colors.dim;
  const apps = `mean of ${side.plannedApps} ${side.plannedApps === 1 ? "app" : "apps"}`;
  const mean = (name: string, pick: (metrics: RunMetrics) => number | null, interval: Interval | null): void => {
    table.push([
      name,
      bold(formatNumber(pick(run))),
      "",
      colors.dim(span(formatNumber(pick(lo)), formatNumber(pick(hi)))),
      meanInterval(interval),
      apps,
    ]);
  };
  const pooled = (
    name: string,
    pick: (metrics: RunMetrics) => Ratio,
    [interval, meaning]: readonly [Interval | null, string],
  ): void => {
    const bounds = colors.dim(span(formatCounts(pick(lo)), formatCounts(pick(hi))));
    table.push([
      name,
      bold(formatPercent(pick(run))),
      `(${formatCounts(pick(run))})`,
      bounds,
      shareInterval(interval),
      meaning,
    ]);
  };
  table.push(["", "", "", colors.dim("lo..hi"), intervals.unavailable === null ? colors.dim("95 %") : "", ""]);
  mean("Grade", (metrics) => metrics.grade, intervals.grade);
  mean("Survival", (metrics) => metrics.survival, intervals.survival);
  pooled("APR", (metrics) => metrics.apr, [intervals.apr, "strict turns after a strict one"]);
  pooled("br", (metrics) => metrics.br, [intervals.br, "earlier checks that still pass"]);
  pooled("TP", (metrics) => metrics.tp, [null, "strict turns"]);
  const rate = (name: string, ratio: Ratio, meaning: string): void => {
    table.push([name, bold(formatPercent(ratio)), `(${formatCounts(ratio)})`, "", "", meaning]);
  };
  rate("Checks", side.passedOfPlanned, "YES of planned checks (the headline rate)");
  rate("", side.passedOfJudged, `YES of judged checks; ${side.counts.missing} not judged`);
  rate("PARTIAL", side.partialRate, "of judged checks");
  rate("MISSING", side.missingRate, "of planned checks");
  rate("app down", side.appDownRate, "of planned checks");
  return [...trimEnds(table.toString()), ...intervalNote(intervals).map((line) => colors.dim(INDENT + line))];
}

function appLines(apps: readonly AppScore[], colors: Colors): string[] {
  const head = ["app", "row", "Grade", "lo..hi", "Survival", "lo..hi", "APR", "lo..hi", "br", "lo..hi"];
  const colAligns = ["right", "left", "right", "left", "right", "left", "left", "left", "left", "left"] as const;
  const table = new Table({
    chars: BARE,
    style: STYLE,
    head: head.map((cell) => colors.bold(cell)),
    colAligns: [...colAligns],
  });
  for (const app of apps) table.push(appCells(app, colors));
  return apps.length === 0 ? [] : trimEnds(table.toString());
}

const countsOrNone = (ratio: Ratio): string => (ratio[1] === 0 ? formatRatio(ratio) : formatCounts(ratio));

function appCells({ sampleIndex, id, primary, lo, hi }: AppScore, colors: Colors): string[] {
  const bounds = (text: (metrics: AppMetrics) => string): string => colors.dim(span(text(lo), text(hi)));
  return [
    String(sampleIndex),
    id,
    formatNumber(primary.grade),
    bounds((metrics) => formatNumber(metrics.grade)),
    `${primary.survival}/${primary.N}`,
    bounds((metrics) => String(metrics.survival)),
    countsOrNone(primary.apr),
    bounds((metrics) => formatCounts(metrics.apr)),
    countsOrNone(primary.br),
    bounds((metrics) => formatCounts(metrics.br)),
  ];
}

function shortfallLines({ side }: RunScore, colors: Colors): string[] {
  const { shortfalls, strays } = side.counts;
  const table = new Table({
    chars: BARE,
    style: STYLE,
    head: ["checks", "verdict", "cause", "class"].map((cell) => colors.bold(cell)),
    colAligns: ["right", "left", "left", "left"],
  });
  for (const { verdict, cause, class: name, count } of shortfalls) {
    table.push([String(count), verdict, cause, name ?? ""]);
  }
  const lines = shortfalls.length === 0 ? [] : ["Not YES:", ...trimEnds(table.toString())];
  const roots = Object.entries(side.rootFailures).map(
    ([archetype, count]) => `${count} ${archetype === "none" ? "without archetype" : archetype}`,
  );
  if (roots.length > 0)
    lines.push(...wrapText(`Turns that failed by themselves: ${roots.join(", ")}`, WIDTH).split("\n"));
  if (strays > 0) lines.push(`${strays} observations of requests or checks the rows do not have; they count nowhere.`);
  return lines;
}

function noteLines({ notes, startTimes }: ScoredSource, colors: Colors): string[] {
  const resumed = startTimes.slice(1);
  const lines =
    resumed.length === 0
      ? []
      : [`resumed ${resumed.length === 1 ? "once" : `${resumed.length} times`}: ${resumed.join(", ")}`];
  for (const { file, line, text } of notes) lines.push(`${file}${line === null ? "" : ` line ${line}`}: ${text}`);
  if (lines.length === 0) return [];
  return ["Notes:", ...lines.map((line) => colors.yellow(wrapText(`- ${line}`, WIDTH - 4).replaceAll(/^/gm, INDENT)))];
}
