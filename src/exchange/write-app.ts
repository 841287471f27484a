import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rowHash } from "../dataset/content-hash.ts";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError, messageOf } from "../errors.ts";
import type { FileRef, TraceFact, Usage } from "../trace/event.ts";
import type { AppObservations, Observation, RequestObservations } from "../trace/observations.ts";
import { appDirName } from "../trace/run-folder.ts";

/** A verdict of an imported check, with what its source says beside it. */
export interface ImportedCheck extends Observation {
  readonly usage?: Usage | null;
  /** Paths relative to the source. */
  readonly evidence?: readonly FileRef[];
}

/** An app as imported; its observations may be `ImportedCheck`s. */
export interface ImportedApp {
  readonly sampled: SampledRow;
  readonly observations: AppObservations;
}

function judged(request: number, check: number, seen: ImportedCheck): TraceFact {
  const { verdict, cause, class: name, rules, usage = null, evidence = [] } = seen;
  return {
    type: "check_judged",
    request,
    check,
    pass: 1,
    verdict,
    cause,
    ...(name === undefined ? {} : { class: name }),
    tries: cause === "not_reached" ? 0 : 1,
    usage,
    ...(rules === undefined ? {} : { rules: { ...rules } }),
    durationMs: null,
    evidence: [...evidence],
  };
}

function agentFinished(request: number, responded: boolean): TraceFact {
  const status = responded ? "completed" : "no_response";
  const unknown = { exitCode: null, reply: null, usage: null, costUsd: null, durationMs: null };
  return { type: "agent_finished", request, status, responded, ...unknown };
}

function appState(request: number, up: boolean): TraceFact {
  if (!up) return { type: "app_down", request, class: null, evidence: {} };
  return { type: "app_up", request, startMs: null, status: null, port: null, command: null };
}

function requestFacts(number: number, instruction: string, seen: RequestObservations): TraceFact[] {
  const { state, responded, up, checks } = seen;
  if (state === "not_run") return [];
  const sha256 = createHash("sha256").update(instruction).digest("hex");
  const unknown = { durationMs: null, starts: null, startMs: null, browserMs: null };
  return [
    { type: "request_started", request: number, input: { origin: "row", sha256 } },
    ...(responded === null ? [] : [agentFinished(number, responded)]),
    ...(up === null ? [] : [appState(number, up)]),
    ...[...checks].map(([check, observation]) => judged(number, check, observation)),
    ...(state === "unfinished" ? [] : [{ type: "request_finished", request: number, ...unknown } as const]),
  ];
}

function appFacts({ sampled, observations }: ImportedApp): TraceFact[] {
  const { row } = sampled;
  const numbers = [...observations.requests.keys()].sort((a, b) => a - b);
  const turns = numbers.flatMap((number) => {
    const seen = observations.requests.get(number);
    return seen === undefined ? [] : requestFacts(number, row.requests[number - 1]?.instruction ?? "", seen);
  });
  const sweep = [...(observations.sweep ?? [])].flatMap(([request, checks]) =>
    [...checks].map(([check, seen]): TraceFact => Object.assign(judged(request, check, seen), { sweep: true })),
  );
  const isComplete = row.requests.every(({ number }) => {
    const state = observations.requests.get(number)?.state;
    return state === "run" || state === "no_artifact";
  });
  return [
    { type: "app_started", rowHash: rowHash(row) },
    ...turns,
    ...sweep,
    isComplete
      ? { type: "app_finished", status: "complete" }
      : { type: "app_finished", status: "stopped", cause: "not_reached" },
  ];
}

/**
 * Writes the trace of an imported app into a run folder; all its events get the time of the import, as nothing else is known. Throws
 * `io`.
 */
export function writeImportedApp(runDir: string, app: ImportedApp, time: string): void {
  const { sampleIndex } = app.sampled;
  const common = { v: 1, time, sampleIndex, attempt: 1, fence: 1 };
  const lines = appFacts(app).map(({ type, ...fact }) => `${JSON.stringify({ ...common, type, ...fact })}\n`);
  const dir = join(runDir, appDirName(sampleIndex));
  try {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "trace.jsonl"), lines.join(""), { flag: "wx" });
  } catch (error) {
    throw new EvowebError("io", `cannot write ${dir}: ${messageOf(error)}. Free space, then import into a new --out.`, {
      cause: error,
    });
  }
}
