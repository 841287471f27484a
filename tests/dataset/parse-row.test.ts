import { expect, test } from "vitest";
import { pathText } from "../../src/dataset/finding.ts";
import { inspectRow, parseRow } from "../../src/dataset/parse-row.ts";
import { sampleRow } from "./sample-row.ts";

function findingsOf(raw: unknown): string[] {
  return inspectRow(raw).findings.map((finding) => `${finding.severity} ${pathText(finding.path)}: ${finding.message}`);
}

function withEdges(edges: { from: string; to: string; what: string }[]) {
  const row = sampleRow();
  return { ...row, dependency_graph: { ...row.dependency_graph, edges } };
}

test("a sound row has ten requests, roles by position, and nothing to complain about", () => {
  const { row, findings } = inspectRow(sampleRow());
  expect(findings).toEqual([]);
  expect(row?.requests.map((request) => request.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(row?.requests[0]?.checks.map((check) => check.role))).toEqual(new Set(["functional"]));
  expect(row?.requests[3]?.checks.map((check) => check.role)).toEqual([
    "functional",
    "functional",
    "functional",
    "integration",
    "backward",
  ]);
  expect(row?.requests[3]?.checks[4]?.copiedFromRequest).toBe(3);
  expect(row?.dependencies[0]).toEqual({ from: 1, to: 2, what: "the list" });
  expect(row?.pinnedSeed).toEqual({
    entity: "notes",
    introducedInRequest: 1,
    recordsGist: "two notes",
    records: [{ title: "Milk" }],
  });
});

test("JSON text in any nested field means the same as the object, in the raw row too", () => {
  const plain = sampleRow();
  const texts = {
    ...plain,
    ui_instruct: JSON.stringify(
      plain.ui_instruct.map((check) => ({ ...check, task_category: JSON.stringify(check.task_category) })),
    ),
    follow_ups: plain.follow_ups.map((followUp) =>
      JSON.stringify({ ...followUp, ui_instruct: JSON.stringify(followUp.ui_instruct) }),
    ),
    dependency_graph: JSON.stringify(plain.dependency_graph),
    global_rules: JSON.stringify(plain.global_rules),
    pinned_seed: JSON.stringify({ ...plain.pinned_seed, records: JSON.stringify(plain.pinned_seed.records) }),
  };
  expect(parseRow(texts)).toEqual(parseRow(plain));
});

test("an instruction is never read as JSON", () => {
  expect(parseRow({ ...sampleRow(), instruction: '["a"]' }).requests[0]?.instruction).toBe('["a"]');
});

test("a row without follow_ups is a sequence of length 1; null, empty text and absent mean the same", () => {
  const { id, instruction, ui_instruct } = sampleRow();
  const bare = { id, instruction, ui_instruct };
  expect(parseRow(bare).requests).toHaveLength(1);
  const nothing = { follow_ups: null, dependency_graph: "", global_rules: null, pinned_seed: null };
  const { raw: _, ...row } = parseRow({ ...bare, ...nothing });
  expect(parseRow(bare)).toMatchObject(row);
});

test("fields nobody knows are kept", () => {
  expect(parseRow({ ...sampleRow(), mood: { kept: true } }).raw["mood"]).toEqual({ kept: true });
});

test("every missing or mistyped field is named at once", () => {
  const { instruction: _, ...rest } = sampleRow("7", 2);
  expect(findingsOf({ ...rest, ui_instruct: [{ task: 3 }], dependency_graph: "{" })).toEqual([
    "refused instruction: is missing (expected string)",
    "refused ui_instruct[0].task: expected string, received number",
    "refused ui_instruct[0].expected_result: is missing (expected string)",
    "refused dependency_graph: must be JSON, but this text is not JSON",
  ]);
  expect(() => parseRow({ ...rest })).toThrow("row 7, instruction: is missing");
});

test("an id that cannot be a file name is refused", () => {
  for (const id of ["", "  ", "..", "../x", "a\\b", "a\u0000b"]) {
    expect(findingsOf({ ...sampleRow(), id })).toEqual([expect.stringMatching(/^refused id: must be a name/)]);
  }
});

test("an empty instruction is refused, naming the request; blanks around a text are kept", () => {
  const row = sampleRow();
  const followUps = row.follow_ups.map((followUp, index) => ({
    ...followUp,
    instruction: index === 6 ? "" : index === 7 ? "   blanks   " : followUp.instruction,
  }));
  expect(findingsOf({ ...row, follow_ups: followUps })).toEqual([
    "refused follow_ups[6].instruction: the text of request 8 is empty",
  ]);
});

test("a request without checks is a fault, yet the row loads", () => {
  const row = sampleRow();
  const followUps = row.follow_ups.map((followUp, index) =>
    index === 8 ? { ...followUp, ui_instruct: [] } : followUp,
  );
  const { row: loaded, findings } = inspectRow({ ...row, follow_ups: followUps });
  expect(loaded?.requests[9]?.checks).toEqual([]);
  expect(findings.map((finding) => finding.severity)).toEqual(["fault"]);
});

test("a follow-up with neither none nor five checks is refused", () => {
  const row = sampleRow("1", 2);
  const [followUp] = row.follow_ups;
  const short = { ...row, follow_ups: [{ ...followUp, ui_instruct: followUp?.ui_instruct.slice(0, 4) }] };
  expect(findingsOf(short)).toEqual([expect.stringContaining("request 2 has 4 checks")]);
});

test("a circle of dependencies is named in order, in the row's own ids, by what needs what", () => {
  const row = sampleRow();
  const nodes = row.dependency_graph.nodes.map((node) => ({ ...node, id: node.id.toLowerCase() }));
  const edges = [
    ...row.dependency_graph.edges.map((edge) => ({
      ...edge,
      from: edge.from.toLowerCase(),
      to: edge.to.toLowerCase(),
    })),
    { from: "r8", to: "r5", what: "" },
  ];
  expect(findingsOf({ ...row, dependency_graph: { nodes, edges } })).toEqual([
    "refused dependency_graph.edges: a circle of dependencies, each needs the next: r5 -> r8 -> r7 -> r6 -> r5",
  ]);
});

test("a request that needs a later one without a circle is refused", () => {
  expect(findingsOf(withEdges([{ from: "R9", to: "R3", what: "" }]))).toEqual([
    "refused dependency_graph.edges[0]: R3 needs R9, which comes later; edges go from an earlier to a later request",
  ]);
});

test("self edges, unknown ids and repeated edges are each named", () => {
  const edges = [
    { from: "R4", to: "R4", what: "" },
    { from: "R1", to: "R11", what: "" },
    { from: "R1", to: "R2", what: "" },
    { from: "R1", to: "R2", what: "" },
  ];
  expect(findingsOf(withEdges(edges))).toEqual([
    'refused dependency_graph.edges[1].to: "R11" is not the id of a node',
    "refused dependency_graph.edges[0]: R4 depends on itself",
    "warning dependency_graph.edges[3]: the edge R1 -> R2 is listed twice",
  ]);
});

test("N requests need N nodes, each once", () => {
  const row = sampleRow("1", 3);
  const { edges, nodes } = row.dependency_graph;
  const graph = (list: unknown[]) => ({ ...row, dependency_graph: { nodes: list, edges } });
  expect(findingsOf(graph([...nodes, { id: "R4" }]))).toEqual([
    "refused dependency_graph.nodes: 4 nodes for 3 requests; every request needs exactly one node",
    'refused dependency_graph.nodes[3].id: "R4" has no request; the row has 3',
  ]);
  expect(findingsOf(graph([...nodes.slice(0, 2), { id: "R2" }]))).toContain(
    'refused dependency_graph.nodes[2].id: "R2" occurs twice',
  );
});

test("ids that are not numbers stand for the request at their position; numbers win over position", () => {
  const row = sampleRow("1", 2);
  const named = { nodes: [{ id: "start" }, { id: "more" }], edges: [{ from: "start", to: "more" }] };
  expect(parseRow({ ...row, dependency_graph: named }).dependencies).toEqual([{ from: 1, to: 2, what: "" }]);
  const turned = { nodes: [{ id: "R2" }, { id: "R1" }], edges: [{ from: "R1", to: "R2" }] };
  expect(parseRow({ ...row, dependency_graph: turned }).dependencies).toEqual([{ from: 1, to: 2, what: "" }]);
});

test("a backward check matches its source after normalising, else it is a fault", () => {
  const row = sampleRow("1", 3);
  const change = (fields: object) => ({
    ...row,
    follow_ups: row.follow_ups.map((followUp, index) => ({
      ...followUp,
      ui_instruct: followUp.ui_instruct.map((check, position) =>
        index === 1 && position === 4 ? { ...check, ...fields } : check,
      ),
    })),
  });
  expect(findingsOf(change({ task: "  DO\u00a0 step\n0 of request ２. " }))).toEqual([]);
  expect(findingsOf(change({ task: "Do another thing." }))).toEqual([
    expect.stringMatching(/^fault follow_ups\[1\]\.ui_instruct\[4\]: no check of request 2 has/),
  ]);
  expect(findingsOf(change({ copied_from_request: 3 }))).toEqual([
    expect.stringContaining("3 is not an earlier request; request 3 can copy from 1..2"),
  ]);
  expect(findingsOf(change({ copied_from_request: null }))).toEqual([
    expect.stringContaining("does not say which request it was copied from"),
  ]);
  // Request 2's own backward check is a copy of request 1's first check: the copy of the copy leads there.
  const copyOfCopy = row.ui_instruct[0];
  expect(findingsOf(change({ ...copyOfCopy }))).toEqual([]);
});

test("what was introduced in a request that does not exist is a fault", () => {
  const row = sampleRow("1", 2);
  const late = {
    ...row,
    global_rules: [{ rule: "x", introduced_in_request: 3 }],
    pinned_seed: { ...row.pinned_seed, introduced_in_request: 0 },
  };
  expect(findingsOf(late)).toEqual([
    "fault global_rules[0].introduced_in_request: 3 is not a request; the row has requests 1..2",
    "fault pinned_seed.introduced_in_request: 0 is not a request; the row has requests 1..2",
  ]);
});

test("contradicting kinds, repeated checks and odd archetypes are warnings", () => {
  const row = sampleRow("1", 2);
  const [followUp] = row.follow_ups;
  const checks = followUp?.ui_instruct ?? [];
  const odd = {
    ...row,
    follow_ups: [
      {
        ...followUp,
        archetype: "dance",
        ui_instruct: [{ ...checks[0], kind: "backward" }, checks[0], ...checks.slice(2)],
      },
    ],
  };
  expect(findingsOf(odd)).toEqual([
    expect.stringMatching(/^warning .*kind: kind "backward" at position 1/),
    expect.stringMatching(/^warning .*ui_instruct\[1\]: repeats check 1 of request 2/),
    expect.stringMatching(/^warning .*archetype: "dance" is none of/),
  ]);
});

test("something that is no object is refused by name", () => {
  expect(findingsOf([1])).toEqual(["refused : a row must be an object, not a list"]);
  expect(findingsOf(null)).toEqual(["refused : a row must be an object, not null"]);
});
