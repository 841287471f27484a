/** A sound raw row with `requestCount` requests, each building on the one before it. */
export function sampleRow(id = "000001", requestCount = 10) {
  const follow = Array.from({ length: requestCount - 1 }, (_, index) => index + 2);
  return {
    id,
    instruction: "Build a page with the heading Notes.",
    ui_instruct: Array.from({ length: 6 }, (_, index) => sampleCheck(1, index)),
    follow_ups: follow.map((request) => ({
      archetype: "derived-state",
      instruction: `Add part ${request} to the page.`,
      ui_instruct: [
        { ...sampleCheck(request, 0), kind: "exact-value" },
        { ...sampleCheck(request, 1), kind: "feature" },
        { ...sampleCheck(request, 2), kind: "feature" },
        { ...sampleCheck(request, 3), kind: "integration" },
        { ...sampleCheck(request - 1, 0), kind: "backward", copied_from_request: request - 1 },
      ],
    })),
    dependency_graph: {
      nodes: [1, ...follow].map((request) => ({ id: `R${request}`, label: `Part ${request}` })),
      edges: follow.map((request) => ({ from: `R${request - 1}`, to: `R${request}`, what: "the list" })),
    },
    global_rules: [{ rule: "Headings are navy.", introduced_in_request: 1 }],
    pinned_seed: { entity: "notes", introduced_in_request: 1, records_gist: "two notes", records: [{ title: "Milk" }] },
  };
}

function sampleCheck(request: number, index: number) {
  return {
    task: `Do step ${index} of request ${request}.`,
    expected_result: `Outcome ${request}.${index} is shown.`,
    task_category: { primary_category: "Functional Testing", subcategories: [] as string[] },
  };
}
