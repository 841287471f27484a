import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import type { RunOptions } from "../index.ts";
import { durationMs, oneOf, positiveNumber, wholeNumber } from "./flags.ts";

const option = (flags: string, description: string, parse?: (value: string) => unknown): Option => {
  const made = new Option(flags, description);
  return parse === undefined ? made : made.argParser(parse);
};
const many = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function repeat(value: string): RunOptions["repeat"] {
  const [, index, of] = /^(\d+)\/(\d+)$/u.exec(value) ?? [];
  if (index === undefined || Number(index) < 1 || Number(index) > Number(of)) {
    throw new InvalidArgumentError('Give position and count, such as "2/5".');
  }
  return { index: Number(index), of: Number(of) };
}

const autoOrNumber = (value: string): number | "auto" => (value === "auto" ? value : wholeNumber(1, 64)(value));

/** The flag of each option of a run; the type makes a new option without a flag an error. */
export const RUN_FLAGS: Readonly<Record<keyof RunOptions, Option>> = {
  dataset: option(
    "--dataset <name|path>",
    "built-in data set, row file or folder, or owner/name on the Hugging Face Hub (default: evoweb-mini)",
  ),
  config: option("--config <name>", "configuration of the data set (default: its default, or the one with the split)"),
  split: option("--split <name>", "split of the data set, such as test or fr (default: the only one, or test)"),
  revision: option("--revision <commit|branch|tag>", "revision on the Hub (default: main; the commit is recorded)"),
  apps: option("--apps <list>", 'sample indexes such as "1,3-5" (default: all)'),
  requests: option("--requests <n>", "only the first n requests of each row (default: all)", wholeNumber(1)),
  agent: option(
    "--agent <agent>",
    "replay[:solution|:MUTANT|:SET|:RUNFOLDER], noop, command, builtin, pi, ... (default: replay)",
  ),
  model: option(
    "--model <id>",
    "model of the agent; its endpoint and key come from EVOWEB_AGENT_*, OPENAI_* or ANTHROPIC_*",
  ),
  session: option(
    "--session <mode>",
    "continue: one conversation over all requests; fresh: a new one for each (default: continue)",
    oneOf("continue", "fresh"),
  ),
  gateway: option(
    "--gateway <on|off>",
    "off: the agent brings its own way to a model; nothing is counted or limited (default: on)",
    oneOf("on", "off"),
  ),
  agentCallsPerRequest: option("--agent-calls-per-request <n>", "model calls of one request", wholeNumber(1)),
  agentCallsPerApp: option("--agent-calls-per-app <n>", "model calls of one app", wholeNumber(1)),
  agentCallsPerRun: option("--agent-calls-per-run <n>", "model calls of the run", wholeNumber(1)),
  agentTokensPerRequest: option("--agent-tokens-per-request <n>", "tokens of one request", wholeNumber(1)),
  agentTokensPerApp: option("--agent-tokens-per-app <n>", "tokens of one app", wholeNumber(1)),
  agentTokensPerRun: option("--agent-tokens-per-run <n>", "tokens of the run", wholeNumber(1)),
  agentUsdPerRequest: option("--agent-usd-per-request <usd>", "cost of one request", positiveNumber),
  agentUsdPerApp: option("--agent-usd-per-app <usd>", "cost of one app", positiveNumber),
  agentUsdPerRun: option("--agent-usd-per-run <usd>", "cost of the run", positiveNumber),
  keepLlmBodies: option("--keep-llm-bodies", "keep what the agent's model was sent and answered"),
  command: option(
    "--command <shell>",
    "the command of --agent command, which gets the request on standard input, or of --agent acp",
  ),
  sandbox: option(
    "--sandbox <kind>",
    "docker or local (default: docker where an engine answers)",
    oneOf("docker", "local"),
  ),
  judge: option(
    "--judge <judge>",
    "oracle, evidence or webvoyager (both need a model), or none (default: oracle)",
    oneOf("oracle", "evidence", "webvoyager", "none"),
  ),
  verdictRule: option(
    "--verdict-rule <rule>",
    "legacy (as published) or strict, for --judge webvoyager; both are stored (default: strict)",
    oneOf("legacy", "strict"),
  ),
  judgeModel: option(
    "--judge-model <name>",
    "model of the judge (endpoint: EVOWEB_JUDGE_BASE_URL, EVOWEB_JUDGE_API_KEY)",
  ),
  cassette: option("--cassette <file>", "file with the answers of the judge's model, to replay or to record"),
  cassetteMode: option(
    "--cassette-mode <mode>",
    "record: ask and store; replay: never ask; auto: ask what is not stored (default: auto)",
    oneOf("record", "replay", "auto"),
  ),
  priceFile: option("--price-file <file>", "JSON with prices of models in US dollars per million tokens"),
  judgeTokensPerCheck: option(
    "--judge-tokens-per-check <n>",
    "most tokens of the judge's model for a check",
    wholeNumber(1),
  ),
  judgeTokensPerApp: option(
    "--judge-tokens-per-app <n>",
    "most tokens of the judge's model for an app",
    wholeNumber(1),
  ),
  judgeTokens: option("--judge-tokens <n>", "most tokens of the judge's model for the run", wholeNumber(1)),
  judgeUsdPerCheck: option(
    "--judge-usd-per-check <n>",
    "most US dollars of the judge's model for a check",
    positiveNumber,
  ),
  judgeUsdPerApp: option("--judge-usd-per-app <n>", "most US dollars of the judge's model for an app", positiveNumber),
  judgeUsd: option("--judge-usd <n>", "most US dollars of the judge's model for the run", positiveNumber),
  isolation: option(
    "--isolation <mode>",
    "check: a fresh copy and start for each check; request: one start for a request's checks (default: check)",
    oneOf("check", "request"),
  ),
  observation: option(
    "--observation <mode>",
    "locf, or sweep: judge all own checks once more at the end (default: locf)",
    oneOf("locf", "sweep"),
  ),
  workers: option("--workers <n>", "apps at a time (default: 2)", wholeNumber(1, 64)),
  concurrency: option("--concurrency <auto|n>", "apps at a time; auto: what memory and cores allow", autoOrNumber),
  budgetUsd: option("--budget-usd <usd>", "most US dollars for agent and judge over the whole run", positiveNumber),
  budgetTokens: option("--budget-tokens <n>", "most tokens of agent and judge over the whole run", wholeNumber(1)),
  deadlineMs: option("--deadline <duration>", "stop in good order after this time; resumable", durationMs),
  checksAtOnce: option("--checks-at-once <n>", "checks at a time, over all apps (default: 2)", wholeNumber(1, 64)),
  agentTimeoutMs: option("--agent-timeout <duration>", "wall time of one turn (default: 30m)", durationMs),
  installTimeoutMs: option("--install-timeout <duration>", "limit of an install (default: 5m)", durationMs),
  buildTimeoutMs: option("--build-timeout <duration>", "limit of a build (default: 3m)", durationMs),
  startTimeoutMs: option(
    "--start-timeout <duration>",
    "limit from start to the first answer (default: 1m)",
    durationMs,
  ),
  checkTimeoutMs: option(
    "--check-timeout <duration>",
    "limit of one check (default: what the judge needs; 1m for oracle)",
    durationMs,
  ),
  memoryMb: option("--memory-mb <n>", "memory of each container (default: 2048)", wholeNumber(64)),
  cpus: option("--cpus <n>", "processors of each container (default: 2)", positiveNumber),
  pids: option("--pids <n>", "processes of each container (default: 512)", wholeNumber(16)),
  allow: option(
    "--allow-host <host:port>",
    "a host that installs and agents may reach beside the package registries; may be repeated",
    undefined,
  ).argParser(many),
  offline: option("--offline", "installs and agents reach no host at all"),
  caFile: option(
    "--ca-file <file>",
    "certificate authority of a proxy that you are behind (or EVOWEB_CA_FILE, NODE_EXTRA_CA_CERTS)",
  ),
  image: option("--image <image>", "sandbox image to use instead of evoweb's own"),
  repeat: option("--repeat <i/n>", "position of this run among its repeats (default: 1/1)", repeat),
};

/** The options that were given; others are absent, so that they come from the run on resume, else from the defaults. */
export function givenOptions(
  flags: Readonly<Record<string, unknown>>,
  names: readonly (keyof RunOptions)[] = Object.keys(RUN_FLAGS) as (keyof RunOptions)[],
): Partial<RunOptions> {
  const values = names.map((name) => [name, flags[RUN_FLAGS[name].attributeName()]] as const);
  const given = Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Partial<RunOptions>;
  // Who told Node of an extra certificate authority is behind a proxy that containers are behind too.
  const caFile = given.caFile ?? (process.env["EVOWEB_CA_FILE"] || process.env["NODE_EXTRA_CA_CERTS"]);
  return caFile === undefined || caFile === "" ? given : { ...given, caFile };
}

// What only a run with an agent has, and what names rows.
const OF_AGENTS: readonly string[] = [
  "dataset",
  "apps",
  "requests",
  "agent",
  "command",
  "agentTimeoutMs",
  "observation",
  "repeat",
  "concurrency",
  "budgetUsd",
  "budgetTokens",
  "deadlineMs",
] satisfies readonly (keyof RunOptions)[];

/** Options about serving and judging apps, whoever wrote them. */
export const JUDGING_OPTIONS = (Object.keys(RUN_FLAGS) as (keyof RunOptions)[]).filter(
  (name) => !OF_AGENTS.includes(name),
);
