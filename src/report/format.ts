import type { Ratio } from "../scoring/turns.ts";

/** A number with two decimals; "n/a" when there is none. */
export function formatNumber(value: number | null): string {
  return value === null ? "n/a" : value.toFixed(2);
}

/** A ratio as its two counts, such as "5/7". */
export function formatCounts([top, bottom]: Ratio): string {
  return `${top}/${bottom}`;
}

/** A ratio in percent with both counts, such as "71.4% (5/7)"; "n/a (0/0)" when there was nothing to count. */
export function formatRatio(ratio: Ratio): string {
  return `${formatPercent(ratio)} (${formatCounts(ratio)})`;
}

/** A ratio in percent with one decimal; "n/a" when there was nothing to count. */
export function formatPercent([top, bottom]: Ratio): string {
  return bottom === 0 ? "n/a" : `${((100 * top) / bottom).toFixed(1)}%`;
}

/** Whole numbers, runs of three and more as ranges, such as "1-3, 7, 8". */
export function formatRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const texts = ranges.map(([from, to]) => {
    if (from === to) return `${from}`;
    return to === from + 1 ? `${from}, ${to}` : `${from}-${to}`;
  });
  return texts.join(", ");
}

/** A duration in its two largest units, such as "6m 00s" or "1h 02m"; below a minute in seconds. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return durationMs < 10_000 ? `${(durationMs / 1000).toFixed(1)}s` : `${seconds}s`;
  const pad = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
}

/** A count with separators for thousands, such as "6,600"; "unknown" when there is none. */
export function formatCount(count: number | null): string {
  return count === null ? "unknown" : count.toLocaleString("en");
}
