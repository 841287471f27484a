import type { VNode } from "preact";
import type { SurvivalPoint } from "../../scoring/statistics/survival-curve.ts";

const WIDTH = 420;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 36;
const TOP = 12;
const RIGHT = 12;
const plotX = (share: number): number => Math.round((LEFT + share * (WIDTH - LEFT - RIGHT)) * 10) / 10;
const plotY = (share: number): number => Math.round((TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)) * 10) / 10;

interface Tick {
  readonly at: number;
  readonly text: string;
}

function Axes(props: { readonly x: readonly Tick[]; readonly y: readonly Tick[]; readonly name: string }): VNode {
  return (
    <g>
      {props.y.map(({ at, text }) => (
        <g>
          <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={plotY(at)} y2={plotY(at)} />
          <text x={LEFT - 6} y={plotY(at) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {props.x.map(({ at, text }) => (
        <text x={plotX(at)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
          {text}
        </text>
      ))}
      <text x={plotX(0.5)} y={HEIGHT - 4} text-anchor="middle">
        {props.name}
      </text>
    </g>
  );
}

/** One survival curve with the name of its run. */
export interface Curve {
  readonly name: string;
  readonly points: readonly SurvivalPoint[];
}

function curvePath(points: readonly SurvivalPoint[], length: number): string {
  let path = `M${plotX(0)} ${plotY(1)}`;
  for (const { request, share } of points) {
    if (share === null) break;
    path += `H${plotX(request / length)}V${plotY(share)}`;
  }
  return path;
}

/** Share of apps that survive each request. */
export function SurvivalChart({ curves }: { readonly curves: readonly Curve[] }): VNode {
  const length = Math.max(1, ...curves.map(({ points }) => points.length));
  const x = Array.from({ length: length + 1 }, (_, at) => ({ at: at / length, text: String(at) }));
  const y = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: `${100 * at}%` }));
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Survival curve">
        <Axes x={x.filter((_, index) => length <= 12 || index % 5 === 0)} y={y} name="requests survived" />
        {curves.map(({ points }, index) => (
          <path class={`curve curve-${index % 6}`} d={curvePath(points, length)} />
        ))}
      </svg>
      <figcaption>
        Share of apps whose requests were all usable up to here (Kaplan-Meier).
        {curves.length < 2 ? null : (
          <ul class="legend">
            {curves.map(({ name }, index) => (
              <li>
                <span class={`swatch curve-${index % 6}`} /> {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
    </figure>
  );
}

/** A point of a scatter: an app. */
interface Dot {
  readonly name: string;
  readonly href: string;
  readonly grade: number;
  readonly cost: number;
}

/** Grade of each app against what its agent took. */
export function CostChart({ dots, unit, show }: CostChartProps): VNode {
  const highest = Math.max(...dots.map(({ cost }) => cost), Number.MIN_VALUE);
  const x = [0, 0.5, 1].map((at) => ({ at, text: show(at * highest) }));
  const y = [0, 25, 50, 75, 100].map((grade) => ({ at: grade / 100, text: String(grade) }));
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-label={`Grade against ${unit}`}>
        <Axes x={x} y={y} name={`agent's ${unit}`} />
        {dots.map(({ name, href, grade, cost }) => (
          <a href={href} aria-label={`${name}: Grade ${grade.toFixed(1)}, ${show(cost)}`}>
            <circle class="dot" cx={plotX(cost / highest)} cy={plotY(grade / 100)} r={5}>
              <title>{`${name}: Grade ${grade.toFixed(1)}, ${show(cost)}`}</title>
            </circle>
          </a>
        ))}
      </svg>
      <figcaption>Grade of each app against the {unit} of its agent's turns.</figcaption>
    </figure>
  );
}

interface CostChartProps {
  readonly dots: readonly Dot[];
  readonly unit: string;
  readonly show: (cost: number) => string;
}
