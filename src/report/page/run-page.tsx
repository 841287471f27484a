import type { VNode } from "preact";
import { formatCount, formatCounts, formatDuration, formatNumber, formatPercent, formatRatio } from "../format.ts";
import { appDirName } from "../../trace/run-folder.ts";
import { CostChart, SurvivalChart } from "./charts.tsx";
import { AppTable, HeatMap } from "./app-tables.tsx";
import { Facts, renderPage } from "./layout.tsx";
import type { ReportApp, ReportRun } from "./model.ts";

type Interval = { readonly low: number; readonly high: number } | null;

const showInterval = (interval: Interval, scale = 1): string =>
  interval === null
    ? "no interval"
    : `95 % ${(scale * interval.low).toFixed(1)} to ${(scale * interval.high).toFixed(1)}`;

const showRange = (lo: number | null, hi: number | null): string =>
  lo === hi ? "" : `, ${formatNumber(lo)} to ${formatNumber(hi)} with missing verdicts as NO to YES`;

function Headline({ run }: { readonly run: ReportRun["source"]["score"]["run"] }): VNode {
  const { intervals, lo, hi, side } = run;
  const { plannedApps } = side;
  const over = `mean over ${plannedApps} ${plannedApps === 1 ? "app" : "apps"}`;
  const numbers = [
    ["Grade", formatNumber(run.grade), `${over}; ${showInterval(intervals.grade)}${showRange(lo.grade, hi.grade)}`],
    [
      "Survival",
      formatNumber(run.survival),
      `requests, ${over}; ${showInterval(intervals.survival)}${showRange(lo.survival, hi.survival)}`,
    ],
    ["APR", formatPercent(run.apr), `${formatCounts(run.apr)} passed turns kept; ${showInterval(intervals.apr, 100)}`],
    [
      "Backward retention",
      formatPercent(run.br),
      `${formatCounts(run.br)} earlier checks still YES; ${showInterval(intervals.br, 100)}`,
    ],
    [
      "Passed at the end",
      formatPercent(run.tpAtN),
      `${formatCounts(run.tpAtN)} apps whose last turn passed; ${showInterval(intervals.tpAtN, 100)}`,
    ],
    ["Turns passed", formatPercent(run.tp), `${formatCounts(run.tp)} turns with every check YES`],
  ] as const;
  return (
    <section aria-labelledby="headline">
      <h2 id="headline">{run.complete ? "Headline" : "Numbers so far: no headline"}</h2>
      <div class="tiles">
        {numbers.map(([name, value, note]) => (
          <div class="tile">
            <span class="name">{name}</span>
            <span class="value">{value}</span>
            <span class="note">{note}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

function provenanceFacts(run: NonNullable<ReportRun["source"]["run"]>): (readonly [string, string])[] {
  const { agent, dataset, judge, evoweb, browser } = run.provenance;
  return [
    ["Agent", agent.name ?? "unknown"],
    ["Data set", `${dataset.name} ${dataset.contentHash.slice(0, 12)}`],
    ["Judge", judge === null ? "unknown" : `${judge.name} ${judge.hash.slice(0, 12)}`],
    ["Run", run.runId],
    ["evoweb", `${evoweb.version} ${evoweb.commit?.slice(0, 9) ?? ""}`],
    ["Browser", browser?.version ?? "unknown"],
  ];
}

function Provenance({ source }: Pick<ReportRun, "source">): VNode {
  const { run, score, notes, integrity } = source;
  const { missing, planned, requestsRun, complete, failures } = score.run;
  const facts: (readonly [string, string])[] = [
    ["Completeness", `${complete ? "complete" : "INCOMPLETE"}: ${requestsRun} of ${planned} requests ran`],
    ["Missing verdicts", formatRatio(missing)],
    ["Integrity", integrityText(integrity)],
    ["Failed turns", `${failures.root} root, ${failures.inherited} inherited`],
    ...(run === null ? [] : provenanceFacts(run)),
    ["Isolation, observation", `${score.run.isolation ?? "unknown"}, ${score.run.observation}`],
    ["Definitions", score.definition],
  ];
  return (
    <section aria-labelledby="provenance">
      <h2 id="provenance">Completeness and provenance</h2>
      {complete ? null : <p class="warning">This run is incomplete. Its numbers are no result.</p>}
      <Facts facts={facts} />
      {notes.length === 0 ? null : (
        <ul class="warning">
          {notes.map(({ file, text }) => (
            <li>{`${file}: ${text}`}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function integrityText(integrity: ReportRun["source"]["integrity"]): string {
  if (integrity === undefined || integrity === null) return "nobody looked";
  const { verdict, canaryHits, blockedHosts, judgeFilesSeen } = integrity;
  return `${verdict}: ${canaryHits} canary hits, ${judgeFilesSeen.length} files of the judge named, ${blockedHosts.length} hosts blocked`;
}

/** The first measure of effort that any app reports: money, then tokens, then time. */
function Costs({ apps }: { readonly apps: readonly ReportApp[] }): VNode | null {
  const measures = [
    {
      unit: "cost",
      of: ({ effort }: ReportApp) => effort?.counted.agent.costUsd,
      show: (n: number) => `$${n.toFixed(2)}`,
    },
    { unit: "output tokens", of: ({ effort }: ReportApp) => effort?.counted.agent.outputTokens, show: formatCount },
    { unit: "time", of: ({ effort }: ReportApp) => effort?.counted.agent.durationMs, show: formatDuration },
  ];
  for (const { unit, of, show } of measures) {
    const dots = apps.flatMap((app) => {
      const cost = of(app);
      const { grade } = app.score.primary;
      if (cost === null || cost === undefined || grade === null) return [];
      const { sampleIndex, row } = app.sampled;
      return [{ name: `app ${sampleIndex} (${row.id})`, href: `${appDirName(sampleIndex)}.html`, grade, cost }];
    });
    if (dots.length > 0) return <CostChart dots={dots} unit={unit} show={show} />;
  }
  return null;
}

/** Overview of a run. */
export function renderRunPage(run: ReportRun): string {
  const { source, apps, version, comparePage } = run;
  const { score } = source;
  const agent = source.run?.provenance.agent.name ?? "unknown agent";
  return renderPage({
    title: `${agent} on ${source.run?.provenance.dataset.name ?? "unknown data"}`,
    root: comparePage === null ? "" : "../",
    version,
    trail: comparePage === null ? [] : [{ href: comparePage, text: "Comparison" }],
    children: (
      <>
        <Headline run={score.run} />
        <Provenance source={source} />
        <section aria-labelledby="curves">
          <h2 id="curves">Over the sequence</h2>
          <div class="figures">
            <SurvivalChart curves={[{ name: agent, points: score.run.survivalCurve.points }]} />
            <Costs apps={apps} />
          </div>
        </section>
        <HeatMap apps={apps} />
        <AppTable apps={apps} />
      </>
    ),
  });
}
