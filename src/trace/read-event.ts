import { TraceEvent } from "./event.ts";

type Fields = Readonly<Record<string, unknown>>;

const VERDICTS: readonly unknown[] = ["YES", "PARTIAL", "NO", "MISSING"];

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber1 = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const isText = (value: unknown): boolean => typeof value === "string";
const isMs = (value: unknown): boolean => value === null || (Number.isFinite(value) && (value as number) >= 0);
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isIn = (value: unknown, a: string, b: string): boolean => value === a || value === b;
const isFlag = (value: unknown): boolean => typeof value === "boolean";

const isFile = (value: unknown): boolean => isFields(value) && isText(value["path"]) && isText(value["sha256"]);
const isUsage = (value: unknown): boolean =>
  value === null ||
  (isFields(value) &&
    (value["inputTokens"] === undefined || isCount(value["inputTokens"])) &&
    (value["outputTokens"] === undefined || isCount(value["outputTokens"])) &&
    (value["calls"] === undefined || isCount(value["calls"])) &&
    (value["cachedInputTokens"] === undefined || isCount(value["cachedInputTokens"])));
const isLimit = (value: unknown): boolean =>
  isFields(value) &&
  isText(value["clock"]) &&
  Number.isFinite(value["value"]) &&
  Number.isFinite(value["max"]) &&
  isOptional(value["scope"], isText);
const isIntegrity = (value: unknown): boolean =>
  isFields(value) &&
  isCount(value["canaryHits"]) &&
  areAll(value["judgeFilesSeen"], isText) &&
  isText(value["verdict"]);
const isJudge = (value: unknown): boolean => isFields(value) && isText(value["name"]) && isText(value["hash"]);
const areVerdicts = (value: unknown): boolean =>
  isFields(value) && Object.values(value).every((verdict) => VERDICTS.includes(verdict));
const isOptional = (value: unknown, isGood: (value: unknown) => boolean): boolean =>
  value === undefined || isGood(value);
const isNullable = (value: unknown, isGood: (value: unknown) => boolean): boolean => value === null || isGood(value);
const areAll = (value: unknown, isGood: (value: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isGood);

const areTurnExtras = (e: Fields): boolean =>
  isOptional(e["limit"], isLimit) &&
  isOptional(e["leftBehind"], (list) => areAll(list, isText)) &&
  isOptional(e["outcome"], isText) &&
  isOptional(e["nudges"], isCount) &&
  isOptional(e["blockedHosts"], (list) => areAll(list, isText)) &&
  isOptional(e["llmCalls"], isFile) &&
  isOptional(e["trajectory"], isFile);
const areVerdictExtras = (e: Fields): boolean =>
  isOptional(e["sweep"], isFlag) &&
  isOptional(e["snapshot"], isNumber1) &&
  isOptional(e["class"], isText) &&
  isOptional(e["costUsd"], (cost) => isNullable(cost, isMs)) &&
  isOptional(e["rules"], areVerdicts) &&
  isOptional(e["judge"], isJudge);

interface Kind {
  /** Whether the fields of this kind, beyond the common ones, are as the schema has them. */
  readonly isGood: (event: Fields) => boolean;
  /** Names of its fields beyond the common ones. */
  readonly fields: readonly string[];
  /** Names of fields that may be absent. */
  readonly optional?: readonly string[];
}

// By hand, because zod on every line doubles the time of a large rescore; `read-event.test.ts` holds the two against each other.
const KINDS: Readonly<Record<TraceEvent["type"], Kind>> = {
  app_started: { fields: ["rowHash"], isGood: (e) => isText(e["rowHash"]) },
  request_started: {
    fields: ["request", "input"],
    isGood: (e) => isFields(e["input"]) && isIn(e["input"]["origin"], "row", "session") && isText(e["input"]["sha256"]),
  },
  agent_finished: {
    fields: ["request", "status", "responded", "exitCode", "reply", "usage", "costUsd", "durationMs"],
    optional: ["limit", "leftBehind", "outcome", "nudges", "blockedHosts", "llmCalls", "trajectory"],
    isGood: (e) =>
      isText(e["status"]) &&
      isNullable(e["responded"], isFlag) &&
      isNullable(e["exitCode"], Number.isSafeInteger) &&
      isNullable(e["reply"], isFile) &&
      isUsage(e["usage"]) &&
      isNullable(e["costUsd"], Number.isFinite) &&
      isMs(e["durationMs"]) &&
      areTurnExtras(e),
  },
  workspace_committed: {
    fields: ["request", "sha", "tree", "files"],
    optional: ["integrity"],
    isGood: (e) =>
      isText(e["sha"]) && isText(e["tree"]) && isCount(e["files"]) && isOptional(e["integrity"], isIntegrity),
  },
  app_up: {
    fields: ["request", "startMs", "status", "port", "command"],
    isGood: (e) =>
      isMs(e["startMs"]) &&
      isNullable(e["status"], Number.isSafeInteger) &&
      isNullable(e["port"], Number.isSafeInteger) &&
      isNullable(e["command"], isText),
  },
  app_down: {
    fields: ["request", "class", "evidence"],
    isGood: (e) => isNullable(e["class"], isText) && isFields(e["evidence"]),
  },
  check_judged: {
    fields: ["request", "check", "pass", "verdict", "cause", "tries", "usage", "durationMs", "evidence"],
    optional: ["sweep", "snapshot", "class", "costUsd", "rules", "judge"],
    isGood: (e) =>
      isCount(e["check"]) &&
      isNumber1(e["pass"]) &&
      isText(e["cause"]) &&
      isCount(e["tries"]) &&
      isMs(e["durationMs"]) &&
      isUsage(e["usage"]) &&
      areAll(e["evidence"], isFile) &&
      areVerdictExtras(e),
  },
  request_finished: {
    fields: ["request", "durationMs", "starts", "startMs", "browserMs"],
    isGood: (e) =>
      isMs(e["durationMs"]) && isNullable(e["starts"], isCount) && isMs(e["startMs"]) && isMs(e["browserMs"]),
  },
  app_finished: {
    fields: ["status"],
    optional: ["cause"],
    isGood: (e) => isIn(e["status"], "complete", "stopped") && isOptional(e["cause"], isText),
  },
};
const COMMON = ["v", "type", "time", "sampleIndex", "attempt", "fence"];
const kinds = new Map(
  Object.entries(KINDS).map(([type, { isGood, fields, optional = [] }]) => {
    const required = COMMON.length + fields.length;
    return [type, { isGood, required, optional, hasRequest: fields.includes("request") }] as const;
  }),
);

/** What one record of a trace turned out to be. */
export type EventReading =
  | { readonly status: "event"; readonly event: TraceEvent; readonly unknownFields: number }
  | { readonly status: "unknown_type"; readonly type: string }
  /** A verdict this version does not know: nobody can score that. */
  | { readonly status: "unknown_verdict"; readonly verdict: string }
  | { readonly status: "newer"; readonly version: number }
  | { readonly status: "bad"; readonly reason: string };

const hasCommon = (e: Fields): boolean =>
  isText(e["time"]) && isNumber1(e["sampleIndex"]) && isNumber1(e["attempt"]) && isNumber1(e["fence"]);

/** The schema version this reader was written for. */
export const TRACE_VERSION = 1;

/** Reads one JSON object as an event; older versions are read as this one as far as they fit. */
export function readEvent(value: Fields): EventReading {
  const version = value["v"];
  if (typeof version === "number" && version > TRACE_VERSION) return { status: "newer", version };
  const type = value["type"];
  if (typeof type !== "string") return { status: "bad", reason: "it has no type" };
  const kind = kinds.get(type);
  if (kind === undefined) return { status: "unknown_type", type };
  if (type === "check_judged" && !VERDICTS.includes(value["verdict"])) {
    return { status: "unknown_verdict", verdict: JSON.stringify(value["verdict"]) ?? "none" };
  }
  const isGood = hasCommon(value) && (!kind.hasRequest || isNumber1(value["request"])) && kind.isGood(value);
  if (!isGood) return { status: "bad", reason: explain(value) };
  return { status: "event", event: value as unknown as TraceEvent, unknownFields: countUnknown(value, kind) };
}

/** How many fields of a good event are none of its kind's; counted, because looking each name up costs more than reading it. */
function countUnknown(
  value: Fields,
  kind: { readonly required: number; readonly optional: readonly string[] },
): number {
  let known = kind.required;
  for (const name of kind.optional) if (value[name] !== undefined) known += 1;
  return Object.keys(value).length - known;
}

function explain(value: Fields): string {
  const result = TraceEvent.safeParse({ ...value, v: TRACE_VERSION });
  const issue = result.error?.issues[0];
  return issue === undefined ? "it does not fit the schema" : `${issue.path.join(".")}: ${issue.message}`;
}
