import { parseRow } from "../dataset/parse-row.ts";
import type { Row, SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";

/** The apps of a run, each cut to its first requests when that was asked for. */
export function planRows(apps: readonly SampledRow[], requests: number | undefined): readonly SampledRow[] {
  if (requests === undefined) return apps;
  const longest = Math.max(...apps.map(({ row }) => row.requests.length));
  if (requests > longest) {
    throw new EvowebError("usage", `--requests ${requests}: the longest selected row has ${longest} requests`);
  }
  return apps.map(({ sampleIndex, row }) => ({ sampleIndex, row: cutRow(row, requests) }));
}

// The raw row is cut, not the parsed one: run folders keep raw rows, and what is scored must be what was run.
function cutRow({ raw, requests }: Row, count: number): Row {
  if (requests.length <= count) return parseRow(raw);
  const { nodes, edges } = (raw["dependency_graph"] ?? { nodes: [], edges: [] }) as Graph;
  const kept = nodes.slice(0, count);
  const ids = new Set(kept.map(({ id }) => id));
  const rules = (raw["global_rules"] ?? []) as readonly Introduced[];
  const seed = raw["pinned_seed"] as Introduced | undefined;
  const isIntroduced = (what: Introduced): boolean => what.introduced_in_request <= count;
  return parseRow({
    ...raw,
    follow_ups: (raw["follow_ups"] as readonly unknown[]).slice(0, count - 1),
    dependency_graph: { nodes: kept, edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)) },
    global_rules: rules.filter(isIntroduced),
    pinned_seed: seed !== undefined && isIntroduced(seed) ? seed : undefined,
  });
}

interface Graph {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

interface Introduced {
  readonly introduced_in_request: number;
}
