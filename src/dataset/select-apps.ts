import { EvowebError } from "../errors.ts";
import type { Row, SampledRow } from "./row.ts";

/**
 * The rows with their sample index (1-based position), in file order; with `apps` such as "1,3-5" only those, never renumbered.
 *
 * @throws EvowebError `usage` when `apps` is no such list or names a position that the rows do not have.
 */
export function selectApps(rows: readonly Row[], apps?: string): readonly SampledRow[] {
  const chosen = parseApps(apps, rows.length);
  return rows
    .map((row, index) => ({ sampleIndex: index + 1, row }))
    .filter(({ sampleIndex }) => chosen.has(sampleIndex));
}

/**
 * The sample indexes that a list such as "1,3-5" names; all of 1..count when it is absent.
 *
 * @throws EvowebError `usage` when it is no such list or leaves 1..count.
 */
export function parseApps(apps: string | undefined, count: number): ReadonlySet<number> {
  if (apps === undefined) return new Set(Array.from({ length: count }, (_, index) => index + 1));
  return new Set(apps.split(",").flatMap((part) => parseRange(part.trim(), apps, count)));
}

function parseRange(part: string, apps: string, count: number): readonly number[] {
  const match = /^([1-9]\d*)(?:\s*-\s*([1-9]\d*))?$/.exec(part);
  if (match === null) {
    const hint = /^0+\d+$/.test(part) ? `; apps are chosen by their position 1..${count}, not by id` : "";
    throw new EvowebError(
      "usage",
      `--apps "${apps}": "${part}" is not a number or a range; write for example 1,3-5${hint}`,
    );
  }
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  if (first > last) throw new EvowebError("usage", `--apps "${apps}": the range ${part} runs backwards`);
  if (last > count) {
    throw new EvowebError("usage", `--apps "${apps}": there is no app ${last}; the dataset has apps 1..${count}`);
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
