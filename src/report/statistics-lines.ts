import type { Intervals } from "../scoring/run-statistics.ts";
import type { Interval } from "../scoring/statistics/bootstrap.ts";
import type { SurvivalPoint } from "../scoring/statistics/survival-curve.ts";
import { formatCount } from "./format.ts";

/** An interval of a mean, such as "61.20..88.05"; empty where there is none. */
export function meanInterval(interval: Interval | null): string {
  return interval === null ? "" : `${interval.low.toFixed(2)}..${interval.high.toFixed(2)}`;
}

/** An interval of a share in percent, such as "61.2..88.0%"; empty where there is none. */
export function shareInterval(interval: Interval | null): string {
  return interval === null ? "" : `${(100 * interval.low).toFixed(1)}..${(100 * interval.high).toFixed(1)}%`;
}

// Below about ten clusters a percentile interval covers clearly less than it says.
const FEW_APPS = 10;

/** What the intervals are, or why there are none. */
export function intervalNote(intervals: Intervals): string[] {
  const { apps, resamples, unavailable, apr, br } = intervals;
  if (unavailable !== null) return [`no 95 % intervals (${unavailable})`];
  const dropped = [apr, br].map((interval) => interval?.dropped ?? 0);
  return [
    `95 %: ${apps} apps drawn with replacement ${formatCount(resamples)} times`,
    ...(apps < FEW_APPS ? [`with fewer than ${FEW_APPS} apps these intervals are too narrow`] : []),
    ...(dropped.some((count) => count > 0)
      ? [`resamples left out because nothing could be counted: ${dropped[0]} of APR, ${dropped[1]} of br`]
      : []),
  ];
}

const COLUMNS = 12;

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(9)}${cells.map((cell) => cell.padStart(7)).join("")}`;
}

/** The survival curve as a small table, a column for each request. */
export function curveLines(points: readonly SurvivalPoint[]): string[] {
  if (points.length === 0) return [];
  const lines = ["Share of apps that survive each request (Kaplan-Meier):"];
  const hasLost = points.some(({ lost }) => lost > 0);
  for (let start = 0; start < points.length; start += COLUMNS) {
    const part = points.slice(start, start + COLUMNS);
    const cells = (show: (point: SurvivalPoint) => string): string[] => part.map(show);
    lines.push(
      row(
        "request",
        cells(({ request }) => String(request)),
      ),
      row(
        "survive",
        cells(({ share }) => (share === null ? "?" : `${(100 * share).toFixed(1)}%`)),
      ),
      row(
        "at risk",
        cells(({ atRisk }) => String(atRisk)),
      ),
    );
    if (hasLost)
      lines.push(
        row(
          "lost",
          cells(({ lost }) => String(lost)),
        ),
      );
  }
  if (hasLost) lines.push("lost: stopped or undecided there by infra, a budget or the judge; counted as long as seen");
  return lines;
}
