import type { TraceEvent } from "./event.ts";

/** Whether the agents of a run knew what they must not know, over all attempts. */
export interface RunIntegrity {
  /** Canary texts of checks and later requests that were found, summed over requests. */
  readonly canaryHits: number;
  /** Hosts ("host:port") that agents wanted and did not get. */
  readonly blockedHosts: readonly string[];
  /** Paths of the judge's files that agents named. */
  readonly judgeFilesSeen: readonly string[];
  readonly verdict: "clean" | "touched" | "unknown";
}

/** Of one app; null when its trace is of a version that did not look. */
export function integrityOf(events: readonly TraceEvent[]): RunIntegrity | null {
  const found = events.flatMap((event) => (event.type === "workspace_committed" ? (event.integrity ?? []) : []));
  if (found.length === 0) return null;
  const blocked = events.flatMap((event) => (event.type === "agent_finished" ? (event.blockedHosts ?? []) : []));
  return sumIntegrity([
    { canaryHits: 0, blockedHosts: blocked, judgeFilesSeen: [], verdict: "clean" as const },
    ...found.map(({ canaryHits, judgeFilesSeen, verdict }) => ({
      canaryHits,
      judgeFilesSeen,
      blockedHosts: [],
      verdict: knownVerdict(verdict),
    })),
  ]);
}

/** Of several apps; null when none was looked at, "unknown" where one of them was not. */
export function sumIntegrity(parts: readonly (RunIntegrity | null)[]): RunIntegrity | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  const verdicts = new Set([
    ...known.map(({ verdict }) => verdict),
    ...(known.length < parts.length ? ["unknown"] : []),
  ]);
  return {
    canaryHits: known.reduce((sum, { canaryHits }) => sum + canaryHits, 0),
    blockedHosts: distinct(known.flatMap(({ blockedHosts }) => blockedHosts)),
    judgeFilesSeen: distinct(known.flatMap(({ judgeFilesSeen }) => judgeFilesSeen)),
    verdict: verdicts.has("touched") ? "touched" : verdicts.has("unknown") ? "unknown" : "clean",
  };
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

const knownVerdict = (verdict: string): RunIntegrity["verdict"] =>
  verdict === "clean" || verdict === "touched" ? verdict : "unknown";
