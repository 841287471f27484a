import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FileRef } from "../trace/event.ts";
import type { Turn } from "./agent.ts";
import { llmCallsPath } from "./agent-gateway.ts";
import { attemptDir, type AppTrace } from "./app-trace.ts";
import type { RequestAccount } from "./gateway/gateway.ts";
import { trajectoryOf } from "./trajectory.ts";
import type { TurnWatch } from "./turn-watch.ts";

/** What a turn is reported with. */
export interface TurnReport {
  readonly turn: Turn;
  /** What the gateway counted; null when no calls pass it. */
  readonly account: RequestAccount | null;
  readonly leftBehind: readonly string[];
  readonly blockedHosts: readonly string[];
  readonly durationMs: number;
}

/** Which turn it was, and where it is reported. */
export interface ReportedTurn {
  readonly trace: AppTrace;
  readonly watch: TurnWatch;
  readonly request: number;
  readonly attempt: number;
}

/** Writes what the agent said and did as evidence, and the end of its turn as an event. What the gateway counted goes first. */
export function reportTurn(reported: ReportedTurn, report: TurnReport): void {
  const { trace, request, attempt } = reported;
  const { turn, account, durationMs } = report;
  const folder = attemptDir(request, attempt);
  if (turn.log !== "") trace.writeText(`${folder}/agent.log`, turn.log);
  const { status, responded, exitCode, reply } = turn;
  trace.emit(attempt, {
    type: "agent_finished",
    request,
    status,
    responded,
    exitCode,
    reply: reply === null ? null : trace.writeText(`${folder}/reply.txt`, reply),
    usage: account?.usage ?? turn.usage,
    costUsd: account === null ? turn.costUsd : account.costUsd,
    durationMs,
    ...known({
      limit: turn.limit ?? account?.limit,
      leftBehind: some(report.leftBehind),
      outcome: turn.outcome,
      nudges: turn.nudges,
      blockedHosts: some(report.blockedHosts),
      llmCalls: llmCallsOf(reported),
      trajectory: writeTrajectory(reported, report),
    }),
  });
}

type Known<T> = { -readonly [Name in keyof T]?: Exclude<T[Name], null | undefined> };

/** Only the fields that have a value. */
function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as Known<T>;
}

const some = (texts: readonly string[]): string[] | null => (texts.length === 0 ? null : [...texts]);

function llmCallsOf({ trace, request }: ReportedTurn): FileRef | null {
  const path = llmCallsPath(request);
  return existsSync(join(trace.dir, path)) ? trace.refer(path) : null;
}

function writeTrajectory(
  { trace, watch, request, attempt }: ReportedTurn,
  { turn, account }: TurnReport,
): FileRef | null {
  const trajectory = trajectoryOf({ turn, account, watch, trajectoryId: `request-${request}.${attempt}` });
  if (trajectory === null) return null;
  return trace.writeText(`${attemptDir(request, attempt)}/trajectory.json`, `${JSON.stringify(trajectory, null, 1)}\n`);
}
