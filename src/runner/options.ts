import { z } from "zod";

const positive = z.int().min(1);
const ms = z.int().min(1);

/** Everything that decides what a run does. The resolved options are stored in run.json. */
export const RunOptions = z.strictObject({
  /** Name of a built-in data set, path of a row file, or "owner/name" on the Hugging Face Hub. */
  dataset: z.string().min(1).default("evoweb-mini"),
  /** Configuration of the data set; absent: the default one, or the only one that has the split. */
  config: z.string().min(1).optional(),
  /** Split of the data set, such as "test" or "fr"; absent: the only one, or "test". */
  split: z.string().min(1).optional(),
  /** Branch, tag or commit on the Hub; absent: "main". What was used is in provenance.dataset.revision. */
  revision: z.string().min(1).optional(),
  /** Sample indexes such as "1,3-5"; absent: all rows. */
  apps: z.string().optional(),
  /** Only the first n requests of each row; absent: all. The rows are cut, so scores are over n requests. */
  requests: positive.optional(),
  /** "replay[:what]", "noop", "command", or an agent of `src/runner/agents/table.ts`. */
  agent: z.string().min(1).default("replay"),
  /** Model of the agent, as its endpoint names it; required by agents that talk to one. */
  model: z.string().min(1).optional(),
  /** One conversation over all requests, or a new one for each. */
  session: z.enum(["continue", "fresh"]).default("continue"),
  /** "off": the agent brings its own way to a model (its hosts must be allowed); nothing is counted or limited then. */
  gateway: z.enum(["on", "off"]).default("on"),
  /** Bounds of the agent's model use; absent: none. Dollars bind as far as prices are known. */
  agentCallsPerRequest: positive.optional(),
  agentCallsPerApp: positive.optional(),
  agentCallsPerRun: positive.optional(),
  agentTokensPerRequest: positive.optional(),
  agentTokensPerApp: positive.optional(),
  agentTokensPerRun: positive.optional(),
  agentUsdPerRequest: z.number().positive().optional(),
  agentUsdPerApp: z.number().positive().optional(),
  agentUsdPerRun: z.number().positive().optional(),
  /** Keeps what is sent to the agent's model and what it answers, by hash. */
  keepLlmBodies: z.boolean().default(false),
  /** Shell command of the agent "command". */
  command: z.string().optional(),
  /** Absent: docker when an engine answers, else local for agents that run no generated commands. */
  sandbox: z.enum(["docker", "local"]).optional(),
  /** "oracle", "evidence" or "webvoyager" (both need a model), or "none"; absent: oracle when the data set has oracles. */
  judge: z.enum(["oracle", "evidence", "webvoyager", "none"]).optional(),
  /** The judge's model, as its endpoint calls it; absent: judges that need none. */
  judgeModel: z.string().min(1).optional(),
  /** File with the judge model's answers; see `cassetteMode`. */
  cassette: z.string().min(1).optional(),
  /** record: ask and store; replay: never ask; auto: ask only what is not stored. Default auto. */
  cassetteMode: z.enum(["record", "replay", "auto"]).optional(),
  /** JSON file with prices of models, over the built-in list. */
  priceFile: z.string().min(1).optional(),
  /** Limits of what the judge's model may take; a check that meets one is MISSING (`budget`). Counted per process start. */
  judgeTokensPerCheck: positive.optional(),
  judgeTokensPerApp: positive.optional(),
  judgeTokens: positive.optional(),
  judgeUsdPerCheck: z.number().positive().optional(),
  judgeUsdPerApp: z.number().positive().optional(),
  judgeUsd: z.number().positive().optional(),
  /** Which rule gives the verdicts of the judge "webvoyager": the published one, or one that leaves nothing to chance words. */
  verdictRule: z.enum(["legacy", "strict"]).default("strict"),
  /** A fresh copy and start for each check, or one start shared by the checks of a request. */
  isolation: z.enum(["check", "request"]).default("check"),
  /** "sweep": after the last request all own checks are judged once more on the last snapshot. */
  observation: z.enum(["locf", "sweep"]).default("locf"),
  /** Apps at a time. */
  workers: positive.max(64).default(2),
  /** Apps at a time, over `workers`; "auto": what memory and cores have room for at the start. */
  concurrency: z.union([positive.max(64), z.literal("auto")]).optional(),
  /** Bounds of agent and judge together over all starts of the run; no app begins that is expected to pass one. */
  budgetUsd: z.number().positive().optional(),
  budgetTokens: positive.optional(),
  /** Wall time of one start of the run; what is not reached then is MISSING, and a resume has as much again. */
  deadlineMs: ms.optional(),
  /** Checks at a time, over all apps; each holds one started app and one browser context. */
  checksAtOnce: positive.max(64).default(2),
  agentTimeoutMs: ms.default(30 * 60_000),
  installTimeoutMs: ms.default(300_000),
  buildTimeoutMs: ms.default(180_000),
  startTimeoutMs: ms.default(60_000),
  /** Absent: what the judge needs (a minute for oracles). */
  checkTimeoutMs: ms.optional(),
  /** Bounds of each place. */
  memoryMb: positive.min(64).default(2048),
  cpus: z.number().positive().max(256).default(2),
  pids: positive.min(16).default(512),
  /** "host:port" entries that installs and the agent's commands may reach beside the package registries. */
  allow: z.array(z.string()).default([]),
  /** True: no host can be reached by agents and installs, whatever else is said. */
  offline: z.boolean().default(false),
  /** Certificate authority file for people behind a proxy with its own; copied into the places. */
  caFile: z.string().optional(),
  /** Sandbox image; absent: the one that evoweb builds. */
  image: z.string().optional(),
  /** Position of this run among its repeats. */
  repeat: z.strictObject({ index: positive, of: positive }).default({ index: 1, of: 1 }),
});
export type RunOptions = z.infer<typeof RunOptions>;

/** Options about the machine and the speed, never about what is found; only these may differ on resume. */
export const FREE_ON_RESUME = [
  "workers",
  "concurrency",
  "budgetUsd",
  "budgetTokens",
  "deadlineMs",
  "checksAtOnce",
  "caFile",
  // What a limit stopped is MISSING, and going on with more money is what one resumes for.
  "judgeTokensPerCheck",
  "judgeTokensPerApp",
  "judgeTokens",
  "judgeUsdPerCheck",
  "judgeUsdPerApp",
  "judgeUsd",
  "priceFile",
  "cassette",
  "cassetteMode",
] as const satisfies readonly (keyof RunOptions)[];
