import { formatNumber, formatRatio } from "../format.ts";
import { GraphChart } from "./graph-chart.tsx";
import { Facts, renderPage } from "./layout.tsx";
import type { ReportApp, ReportRun } from "./model.ts";
import { BreakTable, RegressionMap } from "./regression-map.tsx";
import { RequestSection } from "./request-section.tsx";

/** The page of one app. */
export function renderAppPage(run: ReportRun, app: ReportApp): string {
  const { sampled, score, story } = app;
  const { primary, side } = score;
  const { row, sampleIndex } = sampled;
  const { comparePage } = run;
  return renderPage({
    title: `App ${sampleIndex}, row ${row.id}`,
    root: comparePage === null ? "" : "../",
    version: run.version,
    trail: [
      ...(comparePage === null ? [] : [{ href: comparePage, text: "Comparison" }]),
      { href: "index.html", text: "All apps" },
    ],
    children: (
      <>
        <Facts
          facts={[
            ["Grade", formatNumber(primary.grade)],
            ["Survival", `${primary.survival} of ${primary.N} requests`],
            ["APR", formatRatio(primary.apr)],
            ["Backward retention", formatRatio(primary.br)],
            ["Root failures", side.rootFailures.join(", ") || "none"],
            ["Inherited failures", side.inheritedFailures.join(", ") || "none"],
          ]}
        />
        <BreakTable app={app} />
        <GraphChart app={app} />
        <RegressionMap app={app} />
        <section aria-labelledby="requests">
          <h2 id="requests">Requests</h2>
          {story.requests.map((request) => (
            <RequestSection run={run} app={app} story={request} />
          ))}
        </section>
      </>
    ),
  });
}
