import type { Finding, Severity } from "./finding.ts";
import { findSource, matchKey } from "./match-check.ts";
import type { RawRow } from "./raw-row.ts";
import type { ChangeRequest, Row } from "./row.ts";

const CHECKS_PER_FOLLOW_UP = 5;
const INTEGRATION = 3;
const BACKWARD = 4;
const ARCHETYPES = new Set(["derived-state", "multi-surface-workflow", "interactive-tool", "design-restyle"]);

type Path = readonly (string | number)[];

/** Everything wrong or odd in a row whose fields have the right types; its graph is looked at elsewhere. */
export function checkRow(row: Row, raw: RawRow): readonly Finding[] {
  return [
    ...row.requests.flatMap((request) => [...checkRequest(request), ...checkBackward(row, request)]),
    ...checkIntroductions(row),
    ...row.requests.flatMap((request) => lintKinds(row, request)),
    ...lintRepeats(row),
    ...lintArchetypes(row, raw),
    ...lintCopies(raw),
  ];
}

function checkRequest(request: ChangeRequest): readonly Finding[] {
  const findings: Finding[] = [];
  const path = pathOf(request);
  if (request.instruction.trim() === "") {
    findings.push(finding("refused", [...path, "instruction"], `the text of request ${request.number} is empty`));
  }
  const count = request.checks.length;
  if (count === 0) {
    const message = `request ${request.number} has no checks; it stays out of every score`;
    findings.push(finding("fault", [...path, "ui_instruct"], message));
  } else if (request.number > 1 && count !== CHECKS_PER_FOLLOW_UP) {
    const message = `request ${request.number} has ${count} checks; a follow-up has five: three functional, one integration, one backward`;
    findings.push(finding("refused", [...path, "ui_instruct"], message));
  }
  for (const [index, check] of request.checks.entries()) {
    for (const [field, text] of [
      ["task", check.task],
      ["expected_result", check.expectedResult],
    ] as const) {
      if (text.trim() === "") findings.push(finding("fault", [...path, "ui_instruct", index, field], "is empty"));
    }
  }
  return findings;
}

function checkBackward(row: Row, request: ChangeRequest): readonly Finding[] {
  const check = request.checks[BACKWARD];
  if (request.number === 1 || request.checks.length !== CHECKS_PER_FOLLOW_UP || check === undefined) return [];
  const path = [...pathOf(request), "ui_instruct", BACKWARD];
  const from = check.copiedFromRequest;
  if (from === undefined) {
    const message = `the backward check of request ${request.number} does not say which request it was copied from`;
    return [finding("fault", [...path, "copied_from_request"], message)];
  }
  if (from < 1 || from >= request.number) {
    const message = `${from} is not an earlier request; request ${request.number} can copy from 1..${request.number - 1}`;
    return [finding("fault", [...path, "copied_from_request"], message)];
  }
  if (findSource(row, check) !== undefined) return [];
  const message = `no check of request ${from} has this task and expected result; it counts for request ${request.number} only`;
  return [finding("fault", path, message)];
}

function checkIntroductions(row: Row): readonly Finding[] {
  const count = row.requests.length;
  const places: (readonly [Path, number])[] = row.globalRules.map((rule, index) => [
    ["global_rules", index, "introduced_in_request"],
    rule.introducedInRequest,
  ]);
  if (row.pinnedSeed !== undefined) {
    places.push([["pinned_seed", "introduced_in_request"], row.pinnedSeed.introducedInRequest]);
  }
  return places
    .filter(([, request]) => request < 1 || request > count)
    .map(([path, request]) => finding("fault", path, `${request} is not a request; the row has requests 1..${count}`));
}

function lintKinds(row: Row, request: ChangeRequest): readonly Finding[] {
  if (request.number === 1) return [];
  const findings = request.checks.flatMap((check, index) => {
    if (check.kind === undefined || !contradicts(check.kind, index)) return [];
    const message = `kind "${check.kind}" at position ${index + 1}, where the check is ${check.role}; the position decides`;
    return [finding("warning", [...pathOf(request), "ui_instruct", index, "kind"], message)];
  });
  const hasParent = row.dependencies.some((dependency) => dependency.to === request.number);
  if (request.checks.length === CHECKS_PER_FOLLOW_UP && !hasParent && row.globalRules.length === 0) {
    const message = `request ${request.number} depends on no other and the row has no global rule; what does this check integrate?`;
    findings.push(finding("warning", [...pathOf(request), "ui_instruct", INTEGRATION], message));
  }
  return findings;
}

function contradicts(kind: string, index: number): boolean {
  if (index === BACKWARD) return kind !== "backward";
  if (index === INTEGRATION) return ["backward", "feature", "exact-value", "functional"].includes(kind);
  return kind === "backward" || kind === "integration";
}

function lintRepeats(row: Row): readonly Finding[] {
  const firstPlace = new Map<string, string>();
  const findings: Finding[] = [];
  for (const request of row.requests) {
    for (const [index, check] of request.checks.entries()) {
      if (check.role === "backward") continue;
      const key = matchKey(check);
      const earlier = firstPlace.get(key);
      if (earlier === undefined) firstPlace.set(key, `check ${index + 1} of request ${request.number}`);
      else findings.push(finding("warning", [...pathOf(request), "ui_instruct", index], `repeats ${earlier}`));
    }
  }
  return findings;
}

function lintArchetypes(row: Row, raw: RawRow): readonly Finding[] {
  return row.requests.flatMap((request) => {
    const { archetype } = request;
    if (archetype === undefined || request.number === 1) return [];
    const path = [...pathOf(request), "archetype"];
    const node = raw.dependency_graph?.nodes.find((candidate) => candidate.id === `R${request.number}`);
    if (!ARCHETYPES.has(archetype)) {
      return [finding("warning", path, `"${archetype}" is none of ${[...ARCHETYPES].join(", ")}`)];
    }
    if (node?.archetype === undefined || node.archetype === archetype) return [];
    return [finding("warning", path, `"${archetype}", but the graph calls ${node.id} "${node.archetype}"`)];
  });
}

function lintCopies(raw: RawRow): readonly Finding[] {
  const lists = [raw.ui_instruct, ...(raw.follow_ups ?? []).map((followUp) => followUp.ui_instruct)];
  return lists.flatMap((checks, list) =>
    checks.flatMap((check, index) => {
      const isBackward = list > 0 && index === BACKWARD;
      if (isBackward || check.copied_from_request === undefined) return [];
      const path = [...(list === 0 ? [] : ["follow_ups", list - 1]), "ui_instruct", index, "copied_from_request"];
      return [finding("warning", path, "only the fifth check of a follow-up is a copy; ignored here")];
    }),
  );
}

function pathOf(request: ChangeRequest): Path {
  return request.number === 1 ? [] : ["follow_ups", request.number - 2];
}

function finding(severity: Severity, path: Path, message: string): Finding {
  return { severity, path, message };
}
