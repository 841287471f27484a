import type { VNode } from "preact";
import { buildRequestGraph } from "../../graph/request-graph.ts";
import type { AppStory, Break } from "../app-story.ts";
import { Wide } from "./layout.tsx";
import type { ReportApp } from "./model.ts";

const BOX = { width: 166, height: 46 };
const GAP = { x: 48, y: 16 };

interface Place {
  readonly x: number;
  readonly y: number;
}

type Tone = "yes" | "partial" | "no" | "missing";

/** What was last seen of a request's own checks. */
function toneOf({ checks }: AppStory, request: number): Tone {
  const last = checks.flatMap((story) => {
    const seen =
      story.request === request ? story.sightings.findLast(({ judged }) => judged.verdict !== "MISSING") : undefined;
    return seen === undefined ? [] : [seen.judged.verdict];
  });
  if (last.length === 0) return "missing";
  if (last.every((verdict) => verdict === "YES")) return "yes";
  return last.some((verdict) => verdict === "YES" || verdict === "PARTIAL") ? "partial" : "no";
}

/** Whether a check of `from` was first seen not to be YES any more at the request that builds on it. */
function isEdgeBroken(breaks: readonly Break[], { from, to }: { readonly from: number; readonly to: number }): boolean {
  return breaks.some(({ request, lastGood, firstBad }) => request === from && lastGood !== null && firstBad === to);
}

function placeAll(levels: readonly (readonly number[])[]): Map<number, Place> {
  const tallest = Math.max(1, ...levels.map((level) => level.length));
  return new Map(
    levels.flatMap((level, column) =>
      level.map((request, index): [number, Place] => [
        request,
        {
          x: column * (BOX.width + GAP.x) + 4,
          y: (index + (tallest - level.length) / 2) * (BOX.height + GAP.y) + 4,
        },
      ]),
    ),
  );
}

const cut = (text: string): string => (text.length > 22 ? `${text.slice(0, 21)}…` : text);

function Edge(props: {
  readonly from: Place;
  readonly to: Place;
  readonly isBroken: boolean;
  readonly title: string;
}): VNode {
  const { from, to, isBroken, title } = props;
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = (x2 - x1) / 2;
  return (
    <path
      class={isBroken ? "edge broken" : "edge"}
      d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
    >
      <title>{title}</title>
    </path>
  );
}

/** The dependency graph, levels from left to right. */
export function GraphChart({ app }: { readonly app: ReportApp }): VNode {
  const { row } = app.sampled;
  const { story } = app;
  const levels = buildRequestGraph(row.requests.length, row.dependencies).levels();
  const places = placeAll(levels);
  const width = levels.length * (BOX.width + GAP.x) - GAP.x + 8;
  const height = Math.max(...levels.map((level) => level.length)) * (BOX.height + GAP.y) - GAP.y + 8;
  return (
    <section aria-labelledby="graph">
      <h2 id="graph">What builds on what</h2>
      <p class="note">
        Colour: what was last seen of a request's own checks (green all YES, amber some, red none). Red dashed line: a
        check of the left request was first seen broken after the right one.
      </p>
      <Wide label="Dependency graph">
        <svg
          class="graph"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          aria-label="Dependency graph"
        >
          {row.dependencies.map((edge) => {
            const [from, to] = [places.get(edge.from), places.get(edge.to)];
            if (from === undefined || to === undefined) return null;
            return (
              <Edge
                from={from}
                to={to}
                isBroken={isEdgeBroken(story.breaks, edge)}
                title={`R${edge.from} to R${edge.to}: ${edge.what}`}
              />
            );
          })}
          {row.requests.map(({ number, label, archetype }) => {
            const { x, y } = places.get(number) ?? { x: 0, y: 0 };
            const tone = toneOf(story, number);
            return (
              <a href={`#request-${number}`}>
                <title>{label ?? ""}</title>
                <rect class={`node ${tone}`} x={x} y={y} width={BOX.width} height={BOX.height} rx={6} />
                <text class={`node-text ${tone}`} x={x + 8} y={y + 19}>
                  {cut(`R${number} ${archetype ?? ""}`)}
                </text>
                <text class={`node-text ${tone}`} x={x + 8} y={y + 36}>
                  {cut(label ?? "")}
                </text>
              </a>
            );
          })}
        </svg>
      </Wide>
    </section>
  );
}
