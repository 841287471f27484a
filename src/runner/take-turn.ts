import { EvowebError } from "../errors.ts";
import type { AgentSession, Turn } from "./agent.ts";
import { requestDir, type AppTrace } from "./app-trace.ts";
import type { Place } from "./sandbox.ts";
import { SNAPSHOT_EXCLUDES, type Snapshot, type SnapshotStore } from "./snapshot-store.ts";

/** How long processes that an agent left behind may take to end politely. */
const LEFT_BEHIND_GRACE_MS = 2_000;

/** What one turn needs. */
export interface TurnContext {
  readonly session: AgentSession;
  readonly place: Place;
  readonly store: SnapshotStore;
  readonly trace: AppTrace;
  readonly input: { readonly request: number; readonly text: string; readonly sha256: string };
  readonly signal: AbortSignal;
}

/** Lets the agent handle one request, ends what it left behind, and stores the workspace as a snapshot. */
export async function takeTurn(context: TurnContext, attempt: number): Promise<Snapshot> {
  const { session, place, store, trace, input, signal } = context;
  const { request, text } = input;
  trace.emit(attempt, { type: "request_started", request, input: { origin: "row", sha256: input.sha256 } });
  const started = performance.now();
  const turn = await session.handle({ request, text }, signal);
  const leftBehind = await place.endProcesses(LEFT_BEHIND_GRACE_MS);
  signal.throwIfAborted();
  reportTurn(trace, attempt, { request, turn, leftBehind, durationMs: performance.now() - started });
  const snapshot = await store.commit(request, attempt, await place.readTree(SNAPSHOT_EXCLUDES));
  if (snapshot.skipped.length > 0) {
    trace.writeText(`${requestDir(request)}/skipped.txt`, `${snapshot.skipped.join("\n")}\n`);
  }
  const { sha, tree, files } = snapshot;
  trace.emit(attempt, { type: "workspace_committed", request, sha, tree, files });
  return snapshot;
}

interface TurnReport {
  readonly request: number;
  readonly turn: Turn;
  readonly leftBehind: readonly string[];
  readonly durationMs: number;
}

function reportTurn(trace: AppTrace, attempt: number, { request, turn, leftBehind, durationMs }: TurnReport): void {
  const folder = requestDir(request);
  if (turn.log !== "") trace.writeText(`${folder}/agent.log`, turn.log);
  const reply = turn.reply === null ? null : trace.writeText(`${folder}/reply.txt`, turn.reply);
  const { status, responded, exitCode, usage, costUsd, limit } = turn;
  trace.emit(attempt, {
    type: "agent_finished",
    request,
    status,
    responded,
    exitCode,
    reply,
    usage,
    costUsd,
    durationMs: Math.round(durationMs),
    ...(limit === undefined ? {} : { limit }),
    ...(leftBehind.length === 0 ? {} : { leftBehind: [...leftBehind] }),
  });
}

/** Brings a workspace to a snapshot, or to nothing when there is none yet. */
export async function restoreWorkspace(place: Place, store: SnapshotStore, request: number): Promise<void> {
  const sha = request === 0 ? null : await store.find(request);
  if (request > 0 && sha === null) {
    throw new EvowebError(
      "trace",
      `the snapshot of request ${request} is missing in workspace.git; the app cannot go on`,
    );
  }
  await place.clearTree([]);
  if (sha !== null) await place.writeTree(await store.toTar(sha));
}
