import { DirectedGraph } from "graphology";
import { topologicalGenerations } from "graphology-dag";
import { EvowebError } from "../errors.ts";

/** `to` builds on `from`; both are 1-based request numbers. */
export interface RequestEdge {
  readonly from: number;
  readonly to: number;
  /** What is depended on, for the reader; may be empty. */
  readonly what?: string;
}

/** The dependency graph of one row. Requests are 1..N, every edge goes from an earlier to a later one. */
export interface RequestGraph {
  /** N. */
  readonly requestCount: number;
  /** The edges, in the order of the row. */
  readonly edges: readonly RequestEdge[];
  /** Requests that `request` builds on directly, ascending. */
  parents(request: number): readonly number[];
  /** Every request that `request` rests on, directly or through others, ascending; without itself. */
  ancestors(request: number): readonly number[];
  /** Topological levels: requests without parents first; a request's level is one above its highest parent's. */
  levels(): readonly (readonly number[])[];
}

/**
 * Builds the graph of requests 1..requestCount.
 *
 * @throws EvowebError `bug` when an edge leaves 1..N or does not go forward: loading rows has refused such a row.
 */
export function buildRequestGraph(requestCount: number, edges: readonly RequestEdge[]): RequestGraph {
  const graph = new DirectedGraph();
  for (let request = 1; request <= requestCount; request += 1) graph.addNode(request);
  for (const { from, to } of edges) {
    if (!graph.hasNode(from) || !graph.hasNode(to) || from >= to) {
      throw new EvowebError("bug", `edge ${from} -> ${to} in a graph of ${requestCount} requests; it must go forward`);
    }
    graph.mergeEdge(from, to);
  }
  const parents = (request: number) => graph.inNeighbors(request).map(Number).sort(ascending);
  return {
    requestCount,
    edges,
    parents,
    ancestors: (request) => {
      const found = new Set<number>();
      const open = [request];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        for (const parent of parents(next)) {
          if (!found.has(parent)) open.push(parent);
          found.add(parent);
        }
      }
      return [...found].sort(ascending);
    },
    levels: () => topologicalGenerations(graph).map((level) => level.map(Number).sort(ascending)),
  };
}

/**
 * The circles among edges that need not go forward: one for every edge that closes one, each in the order "needs", its
 * lowest member first and last: [5, 8, 7, 6, 5] means that 5 needs 8, 8 needs 7, and so on. Self edges are left out.
 */
export function findCycles(edges: readonly RequestEdge[]): readonly (readonly number[])[] {
  const needs = new Map<number, number[]>();
  for (const { from, to } of edges) {
    if (from !== to) needs.set(to, [...new Set([...(needs.get(to) ?? []), from])].sort(ascending));
  }
  const cycles: number[][] = [];
  const done = new Set<number>();
  const visit = (request: number, path: readonly number[]): void => {
    const start = path.indexOf(request);
    if (start >= 0) {
      cycles.push(fromLowest(path.slice(start)));
      return;
    }
    if (done.has(request)) return;
    for (const next of needs.get(request) ?? []) visit(next, [...path, request]);
    done.add(request);
  };
  for (const request of [...needs.keys()].sort(ascending)) visit(request, []);
  return cycles;
}

/** Mermaid flow chart of the graph; `label` gives the text of a request's box. */
export function toMermaid(graph: RequestGraph, label: (request: number) => string): string {
  const lines = ["flowchart TD"];
  for (let request = 1; request <= graph.requestCount; request += 1) {
    lines.push(`  R${request}["${escapeMermaid(label(request))}"]`);
  }
  for (const { from, to, what } of graph.edges) {
    lines.push(`  R${from} -->${what === undefined || what === "" ? "" : `|"${escapeMermaid(what)}"|`} R${to}`);
  }
  return `${lines.join("\n")}\n`;
}

// Mermaid reads `#code;` as a character; quotes, markup and line ends would end or break the label.
function escapeMermaid(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[#"<>&`|]/g, (character) => `#${character.codePointAt(0)};`);
}

function fromLowest(cycle: readonly number[]): number[] {
  const start = cycle.indexOf(Math.min(...cycle));
  const turned = [...cycle.slice(start), ...cycle.slice(0, start)];
  return [...turned, ...turned.slice(0, 1)];
}

function ascending(a: number, b: number): number {
  return a - b;
}
