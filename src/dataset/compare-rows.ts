import { canonicalJson } from "./content-hash.ts";
import type { LocatedFinding } from "./finding.ts";
import type { Row } from "./row.ts";

/**
 * What a translated data set changes besides the users' requests. Translations may differ in `instruction` texts only; a
 * missing, added or moved row is a fault too. A text that was left as it is in every request of a row is a warning.
 */
export function compareRows(translated: readonly Row[], original: readonly Row[]): readonly LocatedFinding[] {
  const originalIds = original.map((row) => row.id);
  const ids = translated.map((row) => row.id);
  const missing = originalIds.filter((id) => !ids.includes(id)).map((id) => fault(id, [], "is missing here"));
  const shared = originalIds.filter((id) => ids.includes(id));
  const findings = translated.flatMap((row): readonly LocatedFinding[] => {
    const twin = original.find((candidate) => candidate.id === row.id);
    if (twin === undefined) return [fault(row.id, [], "does not occur in the original")];
    const place = ids.filter((id) => originalIds.includes(id)).indexOf(row.id);
    const moved = shared[place] === row.id ? [] : [fault(row.id, [], "stands at another place than in the original")];
    const differences = diff(row.raw, twin.raw, []).filter((path) => path.at(-1) !== "instruction" || !isRequest(path));
    const isSame = row.requests.every((request, index) => request.instruction === twin.requests[index]?.instruction);
    const warning = isSame
      ? [{ ...fault(row.id, ["instruction"], "no request is translated"), severity: "warning" as const }]
      : [];
    return [...moved, ...differences.map((path) => fault(row.id, path, "differs from the original")), ...warning];
  });
  return [...missing, ...findings];
}

function isRequest(path: readonly (string | number)[]): boolean {
  return path.length === 1 || (path.length === 3 && path[0] === "follow_ups");
}

function diff(a: unknown, b: unknown, path: readonly (string | number)[]): readonly (readonly (string | number)[])[] {
  if (canonicalJson([a]) === canonicalJson([b])) return [];
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.flatMap((part: unknown, index) => diff(part, b[index], [...path, index]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return keys.flatMap((key) => diff(a[key], b[key], [...path, key]));
  }
  return [path];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(rowId: string, path: readonly (string | number)[], message: string): LocatedFinding {
  return { severity: "fault", rowId, path, message };
}
