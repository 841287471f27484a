import { findCycles } from "../graph/request-graph.ts";
import type { Finding } from "./finding.ts";
import type { RawGraph } from "./raw-row.ts";
import type { Dependency } from "./row.ts";

/** The edges of a row's graph as request numbers, and what is wrong with them. */
export interface ResolvedGraph {
  readonly dependencies: readonly Dependency[];
  /** Nodes by request number. */
  readonly nodes: ReadonlyMap<number, RawGraph["nodes"][number]>;
  readonly findings: readonly Finding[];
}

/**
 * Turns the graph's own ids into request numbers. Ids like "R3" name request 3; where any id is something else, the
 * position in `nodes` decides. Every fault of the graph refuses the row: running order and gradeDag hang on it.
 */
export function resolveGraph(graph: RawGraph | undefined, requestCount: number): ResolvedGraph {
  if (graph === undefined) return { dependencies: [], nodes: new Map(), findings: [] };
  const findings: Finding[] = [];
  const requestOf = numberNodes(graph, requestCount, findings);
  const dependencies: (Dependency & { readonly position: number })[] = [];
  for (const [position, edge] of graph.edges.entries()) {
    const from = requestOf.get(edge.from);
    const to = requestOf.get(edge.to);
    for (const end of ["from", "to"] as const) {
      if (requestOf.has(edge[end])) continue;
      findings.push(refuse(["edges", position, end], `"${edge[end]}" is not the id of a node`));
    }
    if (from !== undefined && to !== undefined) dependencies.push({ from, to, what: edge.what ?? "", position });
  }
  findings.push(...checkDirection(graph, dependencies));
  return {
    dependencies: dependencies.map(({ from, to, what }) => ({ from, to, what })),
    nodes: new Map(graph.nodes.map((node) => [requestOf.get(node.id) ?? 0, node])),
    findings,
  };
}

function numberNodes(graph: RawGraph, requestCount: number, findings: Finding[]): ReadonlyMap<string, number> {
  if (graph.nodes.length !== requestCount) {
    const message = `${graph.nodes.length} nodes for ${requestCount} requests; every request needs exactly one node`;
    findings.push(refuse(["nodes"], message));
  }
  const numbers = graph.nodes.map((node) => /^[Rr]0*([1-9]\d*)$/.exec(node.id)?.[1]);
  const isNumbered = numbers.every((number) => number !== undefined);
  const requestOf = new Map<string, number>();
  const seen = new Set<number>();
  for (const [position, node] of graph.nodes.entries()) {
    const request = isNumbered ? Number(numbers[position]) : position + 1;
    if (requestOf.has(node.id) || seen.has(request)) {
      findings.push(refuse(["nodes", position, "id"], `"${node.id}" occurs twice`));
    } else if (isNumbered && request > requestCount) {
      findings.push(refuse(["nodes", position, "id"], `"${node.id}" has no request; the row has ${requestCount}`));
    } else if (request !== position + 1) {
      const message = `"${node.id}" stands at position ${position + 1}; its number decides`;
      findings.push({ severity: "warning", path: ["dependency_graph", "nodes", position, "id"], message });
    }
    seen.add(request);
    if (!requestOf.has(node.id)) requestOf.set(node.id, request);
  }
  return requestOf;
}

function checkDirection(
  graph: RawGraph,
  dependencies: readonly (Dependency & { readonly position: number })[],
): readonly Finding[] {
  const findings: Finding[] = [];
  const cycles = findCycles(dependencies);
  const inCycle = new Set(
    cycles.flatMap((cycle) => cycle.slice(1).map((needed, index) => `${needed} ${cycle[index] ?? ""}`)),
  );
  const idOf = new Map(
    dependencies.flatMap(({ from, to, position }) => {
      const edge = graph.edges[position];
      return edge === undefined
        ? []
        : ([
            [from, edge.from],
            [to, edge.to],
          ] as const);
    }),
  );
  for (const cycle of cycles) {
    const members = cycle.map((request) => idOf.get(request) ?? `R${request}`).join(" -> ");
    findings.push(refuse(["edges"], `a circle of dependencies, each needs the next: ${members}`));
  }
  const pairs = new Set<string>();
  for (const { from, to, position } of dependencies) {
    const [source, target] = [graph.edges[position]?.from ?? "", graph.edges[position]?.to ?? ""];
    if (from === to) findings.push(refuse(["edges", position], `${source} depends on itself`));
    else if (from > to && !inCycle.has(`${from} ${to}`)) {
      const message = `${target} needs ${source}, which comes later; edges go from an earlier to a later request`;
      findings.push(refuse(["edges", position], message));
    }
    if (pairs.has(`${from} ${to}`)) {
      const message = `the edge ${source} -> ${target} is listed twice`;
      findings.push({ severity: "warning", path: ["dependency_graph", "edges", position], message });
    }
    pairs.add(`${from} ${to}`);
  }
  return findings;
}

function refuse(path: readonly (string | number)[], message: string): Finding {
  return { severity: "refused", path: ["dependency_graph", ...path], message };
}
