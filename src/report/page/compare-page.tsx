import type { VNode } from "preact";
import { COMPARED_METRICS } from "../../scoring/compared-metrics.ts";
import type { ComparedMetric } from "../../scoring/compared-metrics.ts";
import type { ComparedValue } from "../../scoring/compare-sides.ts";
import type { Comparison } from "../comparison.ts";
import { SurvivalChart } from "./charts.tsx";
import { Facts, renderPage, Wide } from "./layout.tsx";
import type { ReportRun } from "./model.ts";

function show(metric: ComparedMetric, value: number | null | undefined, sign = ""): string {
  if (value === null || value === undefined) return "n/a";
  const text = metric.kind === "ratio" ? `${(100 * value).toFixed(1)} %` : value.toFixed(2);
  return value > 0 ? sign + text : text;
}

const showP = (p: number | null | undefined): string =>
  p === null || p === undefined ? "" : p < 0.0001 ? "<0.0001" : p.toFixed(4);

function ValueRow(props: {
  readonly metric: ComparedMetric;
  readonly policy: string;
  readonly value: ComparedValue;
}): VNode {
  const { metric, policy, value } = props;
  const { interval } = value;
  const cells = [
    String(value.apps),
    show(metric, value.a),
    show(metric, value.b),
    show(metric, value.difference, "+"),
    interval === null ? "" : `${show(metric, interval.low, "+")} to ${show(metric, interval.high, "+")}`,
    showP(value.test?.p),
    showP(value.adjustedP),
  ];
  return (
    <tr>
      <th scope="row">{metric.label}</th>
      <td>{policy}</td>
      {cells.map((cell) => (
        <td class="number">{cell}</td>
      ))}
    </tr>
  );
}

function PairPart({ pair }: { readonly pair: Comparison["pairs"][number] }): VNode {
  const { a, b, apps, metrics, isHeadline } = pair;
  const torn = metrics.filter(({ doPoliciesAgree }) => !doPoliciesAgree).map(({ metric }) => metric);
  return (
    <section>
      <h2>{`${b} against ${a}, paired over ${apps.length} apps${isHeadline ? "" : " (no headline)"}`}</h2>
      {torn.length === 0 ? null : (
        <p class="warning">{`The order depends on what is made of MISSING verdicts: ${torn.join(", ")}. Do not rank by it.`}</p>
      )}
      <Wide label={`${b} against ${a}`}>
        <table>
          <thead>
            <tr>
              {["Metric", "MISSING", "Apps", a, b, `${b} - ${a}`, "95 %", "p", "Holm"].map((name) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {COMPARED_METRICS.map((metric) => {
              const found = metrics.find(({ metric: name }) => name === metric.name);
              if (found === undefined) return null;
              return (
                <>
                  <ValueRow metric={metric} policy="as NO" value={found.countedAsNo} />
                  <ValueRow metric={metric} policy="excluded" value={found.excluded} />
                </>
              );
            })}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}

/** A run of the comparison and where its own pages are. */
export interface ComparedRun {
  readonly name: string;
  readonly href: string;
  readonly run: ReportRun;
}

function nameOf({ run: { source } }: ComparedRun): string {
  return source.run?.provenance.agent.name ?? source.path;
}

/** Several runs beside each other. */
export function renderComparePage(comparison: Comparison, runs: readonly ComparedRun[]): string {
  const { mismatches, isForced, sides, pairs, method } = comparison;
  return renderPage({
    title: `Comparison of ${runs.length} runs`,
    root: "",
    version: null,
    trail: [],
    children: (
      <>
        {isForced ? <p class="warning">Not comparable: settings differ. No number here is a headline.</p> : null}
        {mismatches.length === 0 ? null : (
          <ul class="warning">
            {mismatches.map(({ text }) => (
              <li>{text}</li>
            ))}
          </ul>
        )}
        <h2>Runs</h2>
        <ul>
          {runs.map((run) => (
            <li>
              <a href={run.href}>{`${run.name}: ${nameOf(run)}`}</a>
              {` (${run.run.source.path})${run.run.source.score.run.complete ? "" : ", INCOMPLETE"}`}
            </li>
          ))}
        </ul>
        <Facts
          facts={sides.map(
            ({ name, repeats, agent }) => [`Side ${name}`, `${agent ?? "unknown agent"}, ${repeats} run(s)`] as const,
          )}
        />
        <SurvivalChart
          curves={runs.map((run) => ({
            name: `${run.name}: ${nameOf(run)}`,
            points: run.run.source.score.run.survivalCurve.points,
          }))}
        />
        {pairs.map((pair) => (
          <PairPart pair={pair} />
        ))}
        <p class="note">{`95 %: ${method.interval}. p: ${method.test}. Holm: ${method.adjustment}.`}</p>
      </>
    ),
  });
}
