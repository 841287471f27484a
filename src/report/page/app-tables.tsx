import type { VNode } from "preact";
import { appDirName } from "../../trace/run-folder.ts";
import { formatDuration, formatNumber } from "../format.ts";
import { Wide } from "./layout.tsx";
import type { ReportApp } from "./model.ts";

interface Turn {
  readonly mark: string;
  readonly word: string;
  readonly tone: "yes" | "partial" | "no" | "missing";
}

function turnOf({ score }: ReportApp, index: number): Turn {
  const { strict, usable } = score.primary;
  const state = score.side.states[index];
  if (state !== "run" && state !== "no_artifact") return { mark: "?", word: "not run", tone: "missing" };
  if (strict[index] === 1) return { mark: "Y", word: "every check YES", tone: "yes" };
  return usable[index] === 1
    ? { mark: "P", word: "usable, not every check YES", tone: "partial" }
    : { mark: "N", word: "not usable", tone: "no" };
}

/** Apps by requests, coloured by how the turn ended. */
export function HeatMap({ apps }: { readonly apps: readonly ReportApp[] }): VNode {
  const length = Math.max(0, ...apps.map(({ score }) => score.primary.N));
  const numbers = Array.from({ length }, (_, index) => index + 1);
  return (
    <section aria-labelledby="map">
      <h2 id="map">Apps by requests</h2>
      <p class="note">
        <span class="mark yes">Y</span> every check YES <span class="mark partial">P</span> usable{" "}
        <span class="mark no">N</span> not usable <span class="mark missing">?</span> not run
      </p>
      <Wide label="Apps by requests">
        <table class="map">
          <thead>
            <tr>
              <th scope="col">App</th>
              {numbers.map((number) => (
                <th scope="col">{number}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {apps.map((app) => (
              <tr>
                <th scope="row">
                  <a href={`${appDirName(app.sampled.sampleIndex)}.html`}>{app.sampled.sampleIndex}</a>
                </th>
                {numbers.map((number) => (
                  <td>{number <= app.score.primary.N ? <Cell app={app} number={number} /> : null}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}

function Cell({ app, number }: { readonly app: ReportApp; readonly number: number }): VNode {
  const { mark, word, tone } = turnOf(app, number - 1);
  const { sampleIndex } = app.sampled;
  const name = `app ${sampleIndex}, request ${number}: ${word}`;
  return (
    <a class={`mark ${tone}`} href={`${appDirName(sampleIndex)}.html#request-${number}`} title={name} aria-label={name}>
      {mark}
    </a>
  );
}

const COLUMNS = [
  "App",
  "Row",
  "First request",
  "Grade",
  "Survival",
  "Regressions",
  "New failures",
  "Root",
  "Inherited",
  "Cost",
  "Time",
];

function costOf({ effort }: ReportApp): { cost: number | null; durationMs: number | null } {
  const share = effort?.counted.agent;
  return { cost: share?.costUsd ?? null, durationMs: share?.durationMs ?? null };
}

function AppRow({ app }: { readonly app: ReportApp }): VNode {
  const { sampled, score, story } = app;
  const { sampleIndex, row } = sampled;
  const { cost, durationMs } = costOf(app);
  const regressions = story.breaks.filter(({ lastGood }) => lastGood !== null).length;
  const cells: readonly (readonly [value: number | null, text: string])[] = [
    [score.primary.grade, formatNumber(score.primary.grade)],
    [score.primary.survival, `${score.primary.survival}/${score.primary.N}`],
    [regressions, String(regressions)],
    [story.breaks.length - regressions, String(story.breaks.length - regressions)],
    [score.side.rootFailures.length, String(score.side.rootFailures.length)],
    [score.side.inheritedFailures.length, String(score.side.inheritedFailures.length)],
    [cost, cost === null ? "unknown" : `$${cost.toFixed(2)}`],
    [durationMs, durationMs === null ? "unknown" : formatDuration(durationMs)],
  ];
  const isRun = score.side.states.every((state) => state === "run" || state === "no_artifact");
  const kinds = [story.breaks.length > 0 ? "broken" : "sound", ...(isRun ? [] : ["unfinished"])];
  return (
    <tr data-kinds={kinds.join(" ")}>
      <td data-value={sampleIndex}>
        <a href={`${appDirName(sampleIndex)}.html`}>{`app ${sampleIndex}`}</a>
      </td>
      <td>{row.id}</td>
      <td class="text">{cut(row.requests[0]?.label ?? row.requests[0]?.instruction ?? "")}</td>
      {cells.map(([value, text]) => (
        <td class="number" data-value={value ?? ""}>
          {text}
        </td>
      ))}
    </tr>
  );
}

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** Apps as a table that can be sorted and filtered. */
export function AppTable({ apps }: { readonly apps: readonly ReportApp[] }): VNode {
  return (
    <section aria-labelledby="apps">
      <h2 id="apps">Apps</h2>
      <div class="filters" data-filters="apps-table">
        <label>
          Contains <input type="search" data-filter="text" />
        </label>
        <label>
          Show{" "}
          <select data-filter="kind">
            <option value="">all apps</option>
            <option value="broken">with broken checks</option>
            <option value="sound">without broken checks</option>
            <option value="unfinished">unfinished</option>
          </select>
        </label>
        <output data-filter="count">{`${apps.length} of ${apps.length} apps`}</output>
      </div>
      <Wide label="Table of apps">
        <table id="apps-table" class="sortable">
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th scope="col">
                  <button type="button">{name}</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {apps.map((app) => (
              <AppRow app={app} />
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}
