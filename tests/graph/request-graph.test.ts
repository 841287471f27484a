import { expect, test } from "vitest";
import { buildRequestGraph, findCycles, toMermaid } from "../../src/graph/request-graph.ts";

const edges = [
  { from: 1, to: 2, what: "the list" },
  { from: 1, to: 3 },
  { from: 2, to: 4 },
  { from: 3, to: 4 },
  { from: 1, to: 4 },
];

test("levels, parents and ancestors follow the edges", () => {
  const graph = buildRequestGraph(5, edges);
  expect(graph.levels()).toEqual([[1, 5], [2, 3], [4]]);
  expect(graph.parents(4)).toEqual([1, 2, 3]);
  expect(graph.ancestors(4)).toEqual([1, 2, 3]);
  expect(graph.ancestors(2)).toEqual([1]);
  expect(graph.parents(5)).toEqual([]);
});

test("a repeated edge counts once", () => {
  expect(
    buildRequestGraph(
      2,
      [1, 2].map(() => ({ from: 1, to: 2 })),
    ).parents(2),
  ).toEqual([1]);
});

test("edges that do not go forward or leave the graph are a bug of the caller", () => {
  for (const edge of [
    { from: 2, to: 1 },
    { from: 1, to: 1 },
    { from: 1, to: 3 },
  ]) {
    expect(() => buildRequestGraph(2, [edge])).toThrow("must go forward");
  }
});

test("circles are named in the order of needs, from the lowest member", () => {
  const circle = [
    { from: 5, to: 6 },
    { from: 6, to: 7 },
    { from: 7, to: 8 },
    { from: 8, to: 5 },
  ];
  expect(findCycles(circle)).toEqual([[5, 8, 7, 6, 5]]);
  expect(findCycles([...circle, { from: 1, to: 2 }, { from: 2, to: 1 }])).toEqual([
    [1, 2, 1],
    [5, 8, 7, 6, 5],
  ]);
  expect(findCycles(edges)).toEqual([]);
});

test("Mermaid text escapes what would end a label", () => {
  const graph = buildRequestGraph(2, [{ from: 1, to: 2, what: 'the "list"' }]);
  expect(toMermaid(graph, (request) => `R${request} <b>\nline`)).toBe(
    [
      "flowchart TD",
      '  R1["R1 #60;b#62; line"]',
      '  R2["R2 #60;b#62; line"]',
      '  R1 -->|"the #34;list#34;"| R2',
      "",
    ].join("\n"),
  );
});
