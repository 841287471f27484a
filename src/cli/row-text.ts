import type { ChangeRequest, Row, SampledRow } from "../index.ts";
import { indent } from "./printable.ts";

/** A row for a person to read. */
export function rowText({ sampleIndex, row }: SampledRow): string {
  const checkCount = row.requests.reduce((sum, request) => sum + request.checks.length, 0);
  return [
    `App ${sampleIndex}, row ${row.id}: requests: ${row.requests.length}, checks: ${checkCount}`,
    ...row.globalRules.map((rule) => `  Rule from R${rule.introducedInRequest} on: ${rule.rule}`),
    ...seedLines(row),
    ...row.requests.flatMap((request) => ["", ...requestLines(row, request)]),
  ].join("\n");
}

function seedLines({ pinnedSeed }: Row): readonly string[] {
  if (pinnedSeed === undefined) return [];
  const { entity, introducedInRequest, recordsGist, records } = pinnedSeed;
  const count = Array.isArray(records) ? ` (${records.length} records)` : "";
  return [`  Seed from R${introducedInRequest} on: ${entity}${count}: ${recordsGist}`];
}

function requestLines(row: Row, request: ChangeRequest): readonly string[] {
  const needs = row.dependencies
    .filter((dependency) => dependency.to === request.number)
    .map(({ from, what }) => `R${from}${what === "" ? "" : ` (${what})`}`);
  const title = [
    `R${request.number}`,
    ...(request.label === undefined ? [] : [request.label]),
    ...(request.archetype === undefined ? [] : [`[${request.archetype}]`]),
    ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
  ];
  const checks = request.checks.flatMap((check, index) => {
    const from = check.copiedFromRequest === undefined ? "" : `, from R${check.copiedFromRequest}`;
    const superseded = check.superseded === true ? ", superseded later" : "";
    return [
      `    ${index}  ${check.role}${from}${superseded}`,
      indent(check.task, "       "),
      indent(`=> ${check.expectedResult}`, "       "),
    ];
  });
  return [
    `  ${title.join("  ")}`,
    indent(request.instruction, "    | "),
    ...(checks.length === 0 ? ["    no checks"] : ["    checks:", ...checks]),
  ];
}
