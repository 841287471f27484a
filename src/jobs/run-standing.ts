// How a run or a sweep stands, read from its folder alone: any process may look while another one writes.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { EvowebError } from "../errors.ts";
import { progressOf } from "../runner/progress.ts";
import { readLockHolder } from "../runner/run-lock.ts";
import type { SampledRow } from "../dataset/row.ts";
import type { TraceEvent, Verdict } from "../trace/event.ts";
import { readTrace } from "../trace/reader.ts";
import { appDirName, readRunFolder, readRunPlan } from "../trace/run-folder.ts";
import { isSweep, readSweep, sweepCells } from "./sweep-plan.ts";

type Counts = Partial<Record<Verdict, number>>;

/** What was spent on models by all attempts, as far as it was reported. */
interface Spent {
  readonly calls: number;
  readonly tokens: number;
  readonly costUsd: number;
}

/** How one app stands. */
interface AppStanding {
  readonly sampleIndex: number;
  readonly state: "waiting" | "begun" | "stopped" | "finished";
  /** Last request with any event; 0 before the first. */
  readonly request: number;
  readonly requests: number;
  readonly finishedRequests: number;
  /** Kind of the last event and its ISO 8601 time; null before the first. */
  readonly last: { readonly type: string; readonly time: string } | null;
  /** The verdicts that count by now. */
  readonly verdicts: Counts;
  readonly spent: Spent;
}

/** How one run stands. */
export interface RunStanding {
  readonly dir: string;
  readonly state: "running" | "finished" | "stopped" | "not begun";
  /** The process that writes the folder; null when none does. */
  readonly holder: { readonly pid: number; readonly host: string } | null;
  readonly apps: readonly AppStanding[];
  readonly verdicts: Counts;
  readonly spent: Spent;
  readonly finishedRequests: number;
  readonly requests: number;
  /** Time left at the pace since the last start; null while nothing was finished, or when nobody runs it. */
  readonly etaMs: number | null;
}

/** How a run, or a sweep with its runs, stands; the document of `evoweb status --json`. */
export interface Standing {
  readonly kind: "run" | "sweep";
  readonly holder: RunStanding["holder"];
  readonly runs: readonly RunStanding[];
}

/** Whether a run folder is there and every planned app has run to its end. Throws as `readRunPlan` and `readTrace`. */
export function isRunFinished(dir: string): boolean {
  if (!existsSync(join(dir, "run.json"))) return false;
  return readRunPlan(dir).rows.every(
    ({ sampleIndex, row }) => progressOf(eventsOf(dir, sampleIndex), row.requests.length).isComplete,
  );
}

/** Whether verdicts of a run are missing that could be had by judging again. Throws as `isRunFinished`. */
export function hasMissing(dir: string): boolean {
  return readRunPlan(dir).rows.some(
    ({ sampleIndex, row }) => progressOf(eventsOf(dir, sampleIndex), row.requests.length).missing.length > 0,
  );
}

function eventsOf(dir: string, sampleIndex: number): readonly TraceEvent[] {
  const path = join(dir, appDirName(sampleIndex), "trace.jsonl");
  return existsSync(path) ? readTrace(path, sampleIndex).events : [];
}

/** Reads how a run or sweep stands at a moment. Throws `usage` when the folder is neither, else as `readRunFolder`. */
export function readStanding(dir: string, now: Date): Standing {
  const holder = readLockHolder(dir);
  if (isSweep(dir)) {
    const runs = sweepCells(readSweep(dir).product).map(({ name }) => runStanding(join(dir, name), now));
    return { kind: "sweep", holder, runs };
  }
  if (!existsSync(join(dir, "run.json"))) {
    throw new EvowebError(
      "usage",
      `${dir} holds neither a run nor a sweep. Name a folder that evoweb run or sweep made`,
    );
  }
  return { kind: "run", holder, runs: [runStanding(dir, now)] };
}

function runStanding(dir: string, now: Date): RunStanding {
  if (!existsSync(join(dir, "run.json"))) {
    const nothing = { apps: [], verdicts: {}, spent: NOTHING, finishedRequests: 0, requests: 0, etaMs: null };
    return { dir, state: "not begun", holder: null, ...nothing };
  }
  const { rows, runEvents } = readRunFolder(dir);
  const traces = rows.map((sampled) => ({ sampled, events: eventsOf(dir, sampled.sampleIndex) }));
  const apps = traces.map(({ sampled, events }) => appStanding(sampled, events));
  const holder = readLockHolder(dir);
  const finishedRequests = sum(apps.map((app) => app.finishedRequests));
  const requests = sum(apps.map((app) => app.requests));
  const startTime = runEvents.findLast((event) => event.type === "run_started")?.time;
  const sinceStart = traces
    .flatMap(({ events }) => events)
    .filter((event) => event.type === "request_finished" && startTime !== undefined && event.time >= startTime).length;
  const elapsedMs = startTime === undefined ? 0 : now.getTime() - Date.parse(startTime);
  const isDone = apps.every(({ state }) => state === "finished");
  return {
    dir,
    state: holder === null ? (isDone ? "finished" : "stopped") : "running",
    holder,
    apps,
    verdicts: addCounts(apps.map(({ verdicts }) => verdicts)),
    spent: addSpent(apps.map(({ spent }) => spent)),
    finishedRequests,
    requests,
    etaMs: holder === null || sinceStart === 0 ? null : (elapsedMs / sinceStart) * (requests - finishedRequests),
  };
}

function appStanding({ sampleIndex, row }: SampledRow, events: readonly TraceEvent[]): AppStanding {
  const last = events.at(-1);
  const { isComplete } = progressOf(events, row.requests.length);
  const finished = new Set(events.flatMap((event) => (event.type === "request_finished" ? [event.request] : [])));
  const verdicts = new Map<string, Verdict>();
  for (const event of events) {
    if (event.type === "check_judged" && event.sweep !== true)
      verdicts.set(`${event.request}.${event.check}`, event.verdict);
  }
  const stateNow = last?.type === "app_finished" ? "stopped" : "begun";
  return {
    sampleIndex,
    state: isComplete ? "finished" : last === undefined ? "waiting" : stateNow,
    request: events.reduce((highest, event) => ("request" in event ? Math.max(highest, event.request) : highest), 0),
    requests: row.requests.length,
    finishedRequests: finished.size,
    last: last === undefined ? null : { type: last.type, time: last.time },
    verdicts: addCounts([...verdicts.values()].map((verdict) => ({ [verdict]: 1 }))),
    spent: addSpent(events.map(spentBy)),
  };
}

const NOTHING: Spent = { calls: 0, tokens: 0, costUsd: 0 };

function spentBy(event: TraceEvent): Spent {
  if (event.type !== "agent_finished" && event.type !== "check_judged") return NOTHING;
  const { calls = 0, inputTokens = 0, outputTokens = 0 } = event.usage ?? {};
  return { calls, tokens: inputTokens + outputTokens, costUsd: event.costUsd ?? 0 };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function addSpent(parts: readonly Spent[]): Spent {
  return {
    calls: sum(parts.map(({ calls }) => calls)),
    tokens: sum(parts.map(({ tokens }) => tokens)),
    costUsd: sum(parts.map(({ costUsd }) => costUsd)),
  };
}

function addCounts(parts: readonly Counts[]): Counts {
  const total: Counts = {};
  for (const part of parts) {
    for (const [verdict, count] of Object.entries(part) as [Verdict, number][])
      total[verdict] = (total[verdict] ?? 0) + count;
  }
  return total;
}
