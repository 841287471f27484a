import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connectEngine } from "../../src/runner/docker/engine.ts";
import { notYes, parseScore } from "../e2e/evoweb.ts";
import { scoreOf, type Stage } from "./subject.ts";

type Event = Readonly<Record<string, unknown>>;

const APP = "app-0001";

/** Whole lines of a run's trace, in order; a torn last line is not among them. */
export function linesOf({ out }: Stage): readonly string[] {
  const path = join(out, APP, "trace.jsonl");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1).filter(Boolean) : [];
}

function eventsOf(stage: Stage): readonly Event[] {
  return linesOf(stage).flatMap((line) => {
    try {
      return [JSON.parse(line) as Event];
    } catch {
      // The line that a kill tore, and that the next process ended.
      return [];
    }
  });
}

const keyOf = (event: Event, names: readonly string[]): string => names.map((name) => String(event[name])).join(".");

/** What was going on when a process was killed, by the last whole line it wrote. */
export function phaseOf(stage: Stage): string {
  const { type = "start" } = eventsOf(stage).at(-1) ?? {};
  const last = typeof type === "string" ? type : "unknown";
  const phases: Readonly<Record<string, string>> = {
    app_started: "workspace",
    request_started: "agent",
    agent_finished: "snapshot",
    workspace_committed: "serving",
    app_up: "judging",
    check_judged: "judging",
    request_finished: "between requests",
    app_finished: "end",
  };
  return phases[last] ?? last;
}

/** What a run came to, as far as it must not depend on kills. */
export interface Outcome {
  readonly score: string;
  readonly notYes: readonly string[];
  /** request.check of every verdict. */
  readonly judged: ReadonlySet<string>;
  /** Verdicts that stand twice for one request, check, pass and attempt, or for one snapshot. */
  readonly doubled: readonly string[];
  /** Model calls and tokens of the turn that counts, by request. */
  readonly usage: string;
  /** Calls in all turns on record, and in the list of calls. */
  readonly calls: number;
  readonly listed: number;
  /** Every duration in the trace, in milliseconds. */
  readonly durations: readonly number[];
}

/** Reads what a finished run came to. */
export async function outcomeOf(stage: Stage): Promise<Outcome> {
  const scored = await scoreOf(stage);
  if (scored.code !== 0) throw new Error(`score ended with ${String(scored.code)}: ${scored.stderr}`);
  const { apps, run } = parseScore(scored.stdout);
  const events = eventsOf(stage);
  const verdicts = events.filter(({ type }) => type === "check_judged");
  const turns = events.filter(({ type }) => type === "agent_finished");
  const sum = (name: string): number =>
    turns.reduce((total, { usage }) => total + Number((usage as Event | null)?.[name] ?? 0), 0);
  const counted = new Map(turns.map((turn) => [turn["request"], turn["usage"]]));
  return {
    score: JSON.stringify({ apps, run }),
    notYes: notYes(stage.out),
    judged: new Set(verdicts.map((event) => keyOf(event, ["request", "check"]))),
    doubled: doubles(verdicts.map((event) => keyOf(event, ["request", "check", "pass", "attempt"]))),
    usage: JSON.stringify([...counted].toSorted(([a], [b]) => Number(a) - Number(b))),
    calls: sum("calls"),
    listed: listedCalls(stage),
    durations: events.flatMap((event) => (typeof event["durationMs"] === "number" ? [event["durationMs"]] : [])),
  };
}

function doubles(keys: readonly string[]): readonly string[] {
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

function listedCalls({ out }: Stage): number {
  const folders = readdirSync(join(out, APP)).filter((name) => name.startsWith("request-"));
  const paths = folders.map((name) => join(out, APP, name, "llm-calls.jsonl")).filter((path) => existsSync(path));
  return paths.reduce((sum, path) => sum + readFileSync(path, "utf8").split("\n").filter(Boolean).length, 0);
}

/** What is left of a run outside of its folder: temp files, processes, containers, volumes and networks. */
export async function leftoversOf(stage: Stage, hasEngine: boolean): Promise<readonly string[]> {
  const files = readdirSync(stage.tmp).map((name) => `file ${name}`);
  const lock = existsSync(join(stage.out, "lock.json")) ? ["file lock.json"] : [];
  return [
    ...files,
    ...lock,
    ...processesOf(stage).map(({ name }) => `process ${name}`),
    ...(hasEngine ? await inEngine(stage) : []),
  ];
}

/** Living processes whose environment or command line names the stage's temp folder. */
export function processesOf({ tmp }: Stage): readonly { readonly pid: number; readonly name: string }[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return pids.flatMap((pid) => {
    try {
      const name = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 200);
      const isOurs = name.includes(tmp) || readFileSync(`/proc/${pid}/environ`, "utf8").includes(tmp);
      return isOurs && name !== "" ? [{ pid: Number(pid), name }] : [];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}

async function inEngine({ out }: Stage): Promise<readonly string[]> {
  const { runId } = JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as { runId: string };
  const docker = connectEngine();
  const filters = { label: [`evoweb.run=${runId}`] };
  const [containers, { Volumes }, networks] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
    docker.listNetworks({ filters }),
  ]);
  return [
    ...containers.map(({ Names }) => `container ${Names.join(" ")}`),
    ...(Volumes ?? []).map(({ Name }) => `volume ${Name}`),
    ...networks.map(({ Name }) => `network ${Name}`),
  ];
}
