import { z } from "zod";

/** A judge's answer for one check; `MISSING` says that nobody could decide. */
export const Verdict = z.enum(["YES", "PARTIAL", "NO", "MISSING"]);
export type Verdict = z.infer<typeof Verdict>;

/** Why a verdict is what it is (design: causes). Readers keep unknown values, read them as `other` and count them. */
export const CAUSES = [
  "judged",
  "app_down",
  "judge_error",
  "infra",
  "budget",
  "not_reached",
  "no_oracle",
  "no_artifact",
] as const;
export type Cause = (typeof CAUSES)[number];

/** What exactly failed, by who failed: the app, the agent, the judge or the infrastructure. */
export const FAILURE_CLASSES = {
  app: [
    "install_failed",
    "build_failed",
    "artifact_invalid",
    "start_crash",
    "no_listen",
    "no_answer",
    "http_error",
    "render_failed",
    "blank_page",
    "out_of_memory",
    "crashed_while_judged",
    "wrong_behaviour",
  ],
  agent: ["no_response", "refused", "step_limit", "time_limit", "cost_limit", "output_limit", "crashed"],
  judge: ["malformed_reply", "step_budget", "evidence_rejected", "refusal"],
  infra: ["sandbox", "browser", "model_api", "disk", "port", "host_not_allowed", "harness_bug"],
} as const;
export type FailureClass = (typeof FAILURE_CLASSES)[keyof typeof FAILURE_CLASSES][number];

/** A file of the run folder that backs a statement: path relative to the app's folder, and its content hash. */
export const FileRef = z.object({ path: z.string(), sha256: z.string() });
export type FileRef = z.infer<typeof FileRef>;

/** Tokens of one turn or judgement; absent numbers were not reported and are never taken as 0. */
export const Usage = z.object({
  inputTokens: z.int().min(0).optional(),
  outputTokens: z.int().min(0).optional(),
  calls: z.int().min(0).optional(),
  /** The part of the input that came from the provider's cache. */
  cachedInputTokens: z.int().min(0).optional(),
});
export type Usage = z.infer<typeof Usage>;

const common = {
  /** Schema version of the line. */
  v: z.literal(1),
  /** ISO 8601 with milliseconds, UTC. */
  time: z.string(),
  sampleIndex: z.int().min(1),
  /** 1-based try at a request; attempts are never deleted. */
  attempt: z.int().min(1),
  /** A later claim on the same app has a higher fence; after it, lines with a lower one are dropped. */
  fence: z.int().min(1),
};
const ofRequest = { ...common, request: z.int().min(1) };
const ms = z.number().min(0);
/** Null where nobody measured, as in imported results. */
const knownMs = ms.nullable();

/** Which clock of a limit fired, as far as this version knows them. */
export const CLOCKS = ["wall_ms", "output_bytes", "steps", "llm_calls", "cost_usd", "tokens"] as const;

/** A limit that fired: which clock, what it measured, where it stood. */
export const FiredLimit = z.object({
  clock: z.string(),
  value: z.number(),
  max: z.number(),
  /** Over what it was counted: "request", "app" or "run"; absent: the request. */
  scope: z.string().optional(),
});
export type FiredLimit = z.infer<typeof FiredLimit>;

/** What was found of the judge's material in what an agent sent to its model, wrote or printed. */
export const Integrity = z.object({
  /** Distinct canary texts of checks and later requests that were found. */
  canaryHits: z.int().min(0),
  /** Paths of the judge's files that were named. */
  judgeFilesSeen: z.array(z.string()),
  /** "clean", "touched", or "unknown" when what the agent sent could not be looked at. */
  verdict: z.string(),
});
export type Integrity = z.infer<typeof Integrity>;

const AppStarted = z.object({ ...common, type: z.literal("app_started"), rowHash: z.string() });
const RequestStarted = z.object({
  ...ofRequest,
  type: z.literal("request_started"),
  input: z.object({ origin: z.enum(["row", "session"]), sha256: z.string() }),
});
const AgentFinished = z.object({
  ...ofRequest,
  type: z.literal("agent_finished"),
  /** "completed", or a class of `FAILURE_CLASSES.agent` / `.infra`. */
  status: z.string(),
  /** True as soon as any answer for this request came; null when unknown. */
  responded: z.boolean().nullable(),
  exitCode: z.int().nullable(),
  reply: FileRef.nullable(),
  usage: Usage.nullable(),
  costUsd: z.number().nullable(),
  durationMs: knownMs,
  limit: FiredLimit.optional(),
  /** Process command lines ended after the turn because the agent left them behind. */
  leftBehind: z.array(z.string()).optional(),
  /** How the conversation ended, finer than `status`: "answered", "empty", "step_limit", "provider_error", ... */
  outcome: z.string().optional(),
  /** How often the agent was told to go on, because it had called no tool and changed no file. */
  nudges: z.int().min(0).optional(),
  /** Hosts ("host:port") that the agent wanted and that are on no list. */
  blockedHosts: z.array(z.string()).optional(),
  /** Calls of the model, a line each; absent when none was made or they did not pass the gateway. */
  llmCalls: FileRef.optional(),
  /** The turn as an ATIF document. */
  trajectory: FileRef.optional(),
});
const WorkspaceCommitted = z.object({
  ...ofRequest,
  type: z.literal("workspace_committed"),
  sha: z.string(),
  tree: z.string(),
  files: z.int().min(0),
  /** Whether the agent knew what it must not know; absent in traces of earlier versions. */
  integrity: Integrity.optional(),
});
const AppUp = z.object({
  ...ofRequest,
  type: z.literal("app_up"),
  /** Spawn of the start command to the first accepted probe; median over the request's starts is in `request_finished`; null when unknown. */
  startMs: knownMs,
  /** HTTP status of `/` at the first accepted probe; null when unknown, as port and command may be. */
  status: z.int().nullable(),
  port: z.int().nullable(),
  command: z.string().nullable(),
});
const AppDown = z.object({
  ...ofRequest,
  type: z.literal("app_down"),
  /** Null when unknown, as in imported results. */
  class: z.string().nullable(),
  /** Facts: exit code, signal, ports, probe status, log tail. */
  evidence: z.record(z.string(), z.unknown()),
});
const CheckJudged = z.object({
  ...ofRequest,
  type: z.literal("check_judged"),
  /** 0-based position in the request. */
  check: z.int().min(0),
  /** 1-based; judging again raises it, the last one counts. */
  pass: z.int().min(1),
  /** True for an observation of a sweep: own checks of a request on a later snapshot. */
  sweep: z.boolean().optional(),
  /** Which snapshot a sweep looked at, where it was not the last one; such observations are in no score. */
  snapshot: z.int().min(1).optional(),
  verdict: Verdict,
  cause: z.string(),
  class: z.string().optional(),
  /** How often it was tried within this pass. */
  tries: z.int().min(0),
  usage: Usage.nullable(),
  /** US dollars that a model took for it; null when unknown, absent when none took part. */
  costUsd: z.number().min(0).nullable().optional(),
  /** The same evidence under the judge's other verdict rules. */
  rules: z.record(z.string(), Verdict).optional(),
  /** Which judge ruled: its name, and the hash over its prompts, oracles and model. Absent when none was asked. */
  judge: z.object({ name: z.string(), hash: z.string() }).optional(),
  durationMs: knownMs,
  evidence: z.array(FileRef),
});
const RequestFinished = z.object({
  ...ofRequest,
  type: z.literal("request_finished"),
  durationMs: knownMs,
  /** App starts of this request and their total time, for the overhead figure. */
  starts: z.int().min(0).nullable(),
  startMs: knownMs,
  /** Time inside browser calls. */
  browserMs: knownMs,
});
const AppFinished = z.object({
  ...common,
  type: z.literal("app_finished"),
  status: z.enum(["complete", "stopped"]),
  cause: z.string().optional(),
});

/** One line of an app's `trace.jsonl`. */
export const TraceEvent = z.discriminatedUnion("type", [
  AppStarted,
  RequestStarted,
  AgentFinished,
  WorkspaceCommitted,
  AppUp,
  AppDown,
  CheckJudged,
  RequestFinished,
  AppFinished,
]);
export type TraceEvent = z.infer<typeof TraceEvent>;

type Bare<E> = E extends TraceEvent ? Omit<E, "v" | "time" | "sampleIndex" | "attempt" | "fence"> : never;
/** What a step says; the runner adds version, time, app, attempt and fence. */
export type TraceFact = Bare<TraceEvent>;

const ofRun = { v: z.literal(1), time: z.string() };

/** One line of a run's `events.jsonl`; written once per process start and end, so a resume is a second `run_started`. */
export const RunEvent = z.discriminatedUnion("type", [
  z.object({
    ...ofRun,
    type: z.literal("run_started"),
    /** The process that runs; absent when the writer does not say. */
    owner: z.record(z.string(), z.unknown()).optional(),
    /** Options that may differ between starts, such as how many apps run at a time. */
    options: z.record(z.string(), z.unknown()),
  }),
  z.object({ ...ofRun, type: z.literal("run_finished") }),
  z.object({
    ...ofRun,
    type: z.literal("run_failed"),
    /** Code of the fault (see `src/errors.ts`), or "signal". */
    code: z.string(),
    message: z.string(),
  }),
]);
export type RunEvent = z.infer<typeof RunEvent>;

type BareRun<E> = E extends RunEvent ? Omit<E, "v" | "time"> : never;
/** What a process says about a run; the writer adds version and time. */
export type RunFact = BareRun<RunEvent>;
