/** How a key point stands after its evidence was checked. */
export type PointStatus = "met" | "not_met" | "not_verifiable";
export type Verdict = "YES" | "PARTIAL" | "NO" | "MISSING";

/** All met is YES, some PARTIAL, none NO; one that could not be told, or none at all, is MISSING. */
export function verdictOf(statuses: readonly PointStatus[]): Verdict {
  if (statuses.length === 0 || statuses.includes("not_verifiable")) return "MISSING";
  const met = statuses.filter((status) => status === "met").length;
  if (met === statuses.length) return "YES";
  return met === 0 ? "NO" : "PARTIAL";
}

const FROM_LOW: readonly Verdict[] = ["NO", "PARTIAL", "YES"];

/** The verdict of most votes. In a tie the lowest verdict that somebody gave; MISSING only when nobody gave another. */
export function majority(votes: readonly Verdict[]): Verdict {
  const count = (verdict: Verdict): number => votes.filter((vote) => vote === verdict).length;
  const most = Math.max(0, ...votes.map(count));
  const leading = [...new Set(votes)].filter((verdict) => count(verdict) === most);
  const [only] = leading;
  if (leading.length === 1 && only !== undefined) return only;
  return FROM_LOW.find((verdict) => leading.includes(verdict)) ?? "MISSING";
}
