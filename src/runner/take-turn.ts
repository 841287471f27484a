import { EvowebError, messageOf } from "../errors.ts";
import { FAILURE_CLASSES } from "../trace/event.ts";
import type { AgentSession, Turn } from "./agent.ts";
import { attemptDir, type AppTrace } from "./app-trace.ts";
import type { RequestAccount } from "./gateway/gateway.ts";
import { notAgain } from "./infra-retry.ts";
import { reportTurn } from "./report-turn.ts";
import type { Place } from "./sandbox.ts";
import { SNAPSHOT_EXCLUDES, type Snapshot, type SnapshotStore } from "./snapshot-store.ts";
import { lookAtSnapshot, restoreState, saveState, type TurnWatch } from "./turn-watch.ts";

/** How long processes that an agent left behind may take to end politely. */
const LEFT_BEHIND_GRACE_MS = 2_000;
const INFRA: ReadonlySet<string> = new Set(FAILURE_CLASSES.infra);

/** What one turn needs. */
export interface TurnContext {
  readonly session: AgentSession;
  readonly place: Place;
  readonly store: SnapshotStore;
  readonly trace: AppTrace;
  readonly watch: TurnWatch;
  readonly input: { readonly request: number; readonly text: string; readonly sha256: string };
  readonly signal: AbortSignal;
}

/** Lets the agent handle one request, ends what it left behind, and stores the workspace as a snapshot. */
export async function takeTurn(context: TurnContext, attempt: number): Promise<Snapshot> {
  const { place, store, trace, watch, input, signal } = context;
  const { request } = input;
  trace.emit(attempt, { type: "request_started", request, input: { origin: "row", sha256: input.sha256 } });
  watch.canaries.begin(request);
  const account = await converse(context, attempt);
  if (watch.hasState) await saveState(place, trace.dir, request);
  const snapshot = await store.commit(request, attempt, await place.readTree(SNAPSHOT_EXCLUDES));
  signal.throwIfAborted();
  if (snapshot.skipped.length > 0) {
    trace.writeText(`${attemptDir(request, attempt)}/skipped.txt`, `${snapshot.skipped.join("\n")}\n`);
  }
  const { sha, tree, files } = snapshot;
  if (watch.hasOwnPrograms) await lookAtSnapshot(watch.canaries, store, sha);
  const integrity = watch.canaries.result(account !== null);
  trace.emit(attempt, { type: "workspace_committed", request, sha, tree, files, integrity });
  return snapshot;
}

/** The agent's work on the request, and its account. An attempt that the infrastructure ended is on record too. */
async function converse(context: TurnContext, attempt: number): Promise<RequestAccount | null> {
  const { session, place, trace, watch, input, signal } = context;
  const { request, text } = input;
  const started = performance.now();
  const blockedBefore = place.egressLog().length;
  const report = (turn: Turn, account: RequestAccount | null, leftBehind: readonly string[]): void => {
    const refused = place
      .egressLog()
      .slice(blockedBefore)
      .filter(({ allowed }) => !allowed);
    const blockedHosts = [...new Set(refused.map(({ target }) => target))];
    const durationMs = Math.round(performance.now() - started);
    reportTurn({ trace, watch, attempt, request }, { turn, account, leftBehind, blockedHosts, durationMs });
  };
  watch.gateway?.begin(request, attempt);
  let turn: Turn;
  let leftBehind: readonly string[];
  try {
    turn = await session.handle({ request, text }, signal);
    leftBehind = await place.endProcesses(LEFT_BEHIND_GRACE_MS);
  } catch (error) {
    const account = (await watch.gateway?.finish()) ?? null;
    if (signal.aborted || account === null || !(error instanceof EvowebError)) throw error;
    report(lostTurn(account, error), account, []);
    throw account.answered > 0 ? notAgain(error) : error;
  }
  const account = (await watch.gateway?.finish()) ?? null;
  signal.throwIfAborted();
  watch.canaries.look(turn.log);
  report(turn, account, leftBehind);
  if (INFRA.has(turn.status)) throw modelFault(request, account);
  return account;
}

function lostTurn({ answered }: RequestAccount, error: EvowebError): Turn {
  const nothing = { exitCode: null, reply: null, usage: null, costUsd: null };
  return { ...nothing, status: "sandbox", responded: answered > 0, log: messageOf(error) };
}

function modelFault(request: number, account: RequestAccount | null): EvowebError {
  const { class: name, code } = account?.lastError ?? { class: "unknown", code: null };
  const error = new EvowebError(
    "model",
    `the agent's model gave no usable answer for request ${request} (${name}${code === null ? "" : `, ${code}`}). ` +
      "Look at llm-calls.jsonl, mend the endpoint or its key, then use --resume",
  );
  return (account?.answered ?? 0) > 0 ? notAgain(error) : error;
}

/** What a workspace is brought back from. */
export interface Restored extends Pick<TurnContext, "place" | "store" | "watch"> {
  readonly dir: string;
}

/** Brings a workspace and the agent's own files to what they were after a request, or to nothing when there is none yet. */
export async function restoreWorkspace({ place, store, watch, dir }: Restored, request: number): Promise<void> {
  const sha = request === 0 ? null : await store.find(request);
  if (request > 0 && sha === null) {
    throw new EvowebError(
      "trace",
      `the snapshot of request ${request} is missing in workspace.git; the app cannot go on`,
    );
  }
  await place.clearTree([]);
  if (sha !== null) await place.writeTree(await store.toTar(sha));
  if (watch.hasState) await restoreState(place, dir, request);
}
