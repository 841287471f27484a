import type { z } from "zod";
import { EvowebError } from "../errors.ts";
import { findingText, type Finding } from "./finding.ts";
import { checkRow } from "./check-row.ts";
import { RawRow, type RawCheck } from "./raw-row.ts";
import { resolveGraph } from "./resolve-graph.ts";
import type { ChangeRequest, Check, CheckRole, PinnedSeed, Row } from "./row.ts";

/** What became of one raw row. */
export interface InspectedRow {
  /** Absent when a finding refuses the row. */
  readonly row?: Row;
  /** The id, where the raw row has one. */
  readonly rowId?: string;
  /** Everything wrong or odd, all at once; empty for a sound row. */
  readonly findings: readonly Finding[];
}

/**
 * One raw row (EvoWeb or WebGen-Bench schema) as a validated row. Fields that hold JSON as text mean the same as objects.
 *
 * @throws EvowebError `dataset` that lists every reason why the row cannot be run or scored.
 */
export function parseRow(raw: unknown): Row {
  const { row, rowId, findings } = inspectRow(raw);
  if (row !== undefined) return row;
  const lines = findings
    .filter((finding) => finding.severity === "refused")
    .map((finding) => findingText(rowId === undefined ? finding : { ...finding, rowId }));
  throw new EvowebError("dataset", lines.join("\n"));
}

/** Like `parseRow`, but returns everything wrong or odd instead of throwing. */
export function inspectRow(raw: unknown): InspectedRow {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return { findings: [{ severity: "refused", path: [], message: `a row must be an object, not ${nameOf(raw)}` }] };
  }
  const rowId = "id" in raw && typeof raw.id === "string" ? { rowId: raw.id } : {};
  const result = RawRow.safeParse(raw);
  if (!result.success) return { ...rowId, findings: result.error.issues.map(fromIssue) };
  const { row, findings: graphFindings } = buildRow(result.data);
  const findings = [...graphFindings, ...checkRow(row, result.data)];
  const isRefused = findings.some((finding) => finding.severity === "refused");
  return isRefused ? { ...rowId, findings } : { ...rowId, row, findings };
}

function buildRow(raw: RawRow): { readonly row: Row; readonly findings: readonly Finding[] } {
  const followUps = raw.follow_ups ?? [];
  const graph = resolveGraph(raw.dependency_graph, followUps.length + 1);
  const requests = [raw, ...followUps].map((request, index): ChangeRequest => {
    const node = graph.nodes.get(index + 1);
    const archetype = index === 0 ? node?.archetype : (followUps[index - 1]?.archetype ?? node?.archetype);
    return {
      number: index + 1,
      instruction: request.instruction,
      ...(node?.label === undefined ? {} : { label: node.label }),
      ...(archetype === undefined ? {} : { archetype }),
      checks: request.ui_instruct.map((check, position) =>
        buildCheck(check, index === 0 ? "functional" : roleAt(position)),
      ),
    };
  });
  const row: Row = {
    id: raw.id,
    requests,
    dependencies: graph.dependencies,
    globalRules: (raw.global_rules ?? []).map((rule) => ({
      rule: rule.rule,
      introducedInRequest: rule.introduced_in_request,
    })),
    ...(raw.pinned_seed === undefined ? {} : { pinnedSeed: buildSeed(raw.pinned_seed) }),
    raw,
  };
  return { row, findings: graph.findings };
}

function buildSeed(seed: NonNullable<RawRow["pinned_seed"]>): PinnedSeed {
  return {
    entity: seed.entity,
    introducedInRequest: seed.introduced_in_request,
    recordsGist: seed.records_gist,
    ...(seed.records === undefined || seed.records === null ? {} : { records: seed.records }),
  };
}

function buildCheck(raw: RawCheck, role: CheckRole): Check {
  const copiedFrom = raw.copied_from_request;
  return {
    task: raw.task,
    expectedResult: raw.expected_result,
    role,
    ...(raw.kind !== undefined ? { kind: raw.kind } : {}),
    ...(role === "backward" && copiedFrom !== undefined ? { copiedFromRequest: copiedFrom } : {}),
    ...(raw.superseded === true ? { superseded: true } : {}),
  };
}

function roleAt(position: number): CheckRole {
  if (position < 3) return "functional";
  return position === 3 ? "integration" : "backward";
}

function fromIssue(issue: z.core.$ZodIssue): Finding {
  const path = issue.path.filter((part) => typeof part !== "symbol");
  const isAbsent = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  const message = isAbsent ? `is missing (expected ${issue.expected})` : issue.message.replace("Invalid input: ", "");
  return { severity: "refused", path, message };
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : `a ${typeof value}`;
}
