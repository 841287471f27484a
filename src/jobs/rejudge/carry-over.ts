import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AppTrace } from "../../runner/app-trace.ts";
import { snapshotDir } from "../../runner/open-app-judging.ts";
import type { FileRef, TraceEvent } from "../../trace/event.ts";
import type { Judged, SourceRequest } from "./source-requests.ts";

/** Where facts of an app come from and go to. */
export interface Carrying {
  /** The app's folder in the source. */
  readonly sourceDir: string;
  readonly trace: AppTrace;
  /** What stands in the new trace already, when a job is gone on with. */
  readonly known: readonly TraceEvent[];
  /** Whether apps are started again; else only stored evidence is ruled on. */
  readonly looksAgain: boolean;
  /** The judge of verdicts whose events do not name one; null: no judge. */
  readonly sourceJudge: { readonly name: string; readonly hash: string } | null;
}

/** Takes over the snapshots of an app; a copy that was cut off is made again. */
export async function copySnapshots(sourceDir: string, dir: string): Promise<void> {
  const [from, to] = [snapshotDir(sourceDir), snapshotDir(dir)];
  if (existsSync(to) || !existsSync(from)) return;
  const part = `${to}.part`;
  await rm(part, { recursive: true, force: true });
  await cp(from, part, { recursive: true });
  await rename(part, to);
}

/** Takes over what is known of a request and is not judged again: the turn, the snapshot, the other verdicts with their files. */
export function carryRequest(carrying: Carrying, source: SourceRequest, again: ReadonlySet<number>): void {
  const isWhole = carrying.looksAgain && source.request.checks.every((_, index) => again.has(index));
  for (const fact of source.facts) {
    // A request that is judged again as a whole finds out for itself whether its app comes up.
    if (isWhole && (fact.type === "app_up" || fact.type === "app_down")) continue;
    if (again.size > 0 && fact.type === "request_finished") continue;
    carry(carrying, fact);
  }
  for (const [check, verdict] of source.verdicts) if (!again.has(check)) carryVerdict(carrying, verdict);
}

/** Takes over one verdict, marked with the judge that gave it. */
export function carryVerdict(carrying: Carrying, verdict: Judged): void {
  const { sourceJudge } = carrying;
  const judge = verdict.judge ?? sourceJudge;
  carry(carrying, judge === null ? verdict : { ...verdict, judge });
}

/** Takes over the end of an app. */
export function carryEnd(carrying: Carrying, events: readonly TraceEvent[]): void {
  const end = events.findLast(({ type }) => type === "app_finished");
  if (end !== undefined) carry(carrying, end);
}

function carry({ sourceDir, trace, known }: Carrying, event: TraceEvent): void {
  if (known.some((other) => isSame(other, event))) return;
  for (const { path } of filesOf(event)) copyEvidence(path, sourceDir, trace.dir);
  const { v: _, time: __, sampleIndex: ___, attempt, fence: ____, ...fact } = event;
  trace.emit(attempt, fact);
}

function isSame(a: TraceEvent, b: TraceEvent): boolean {
  if (a.type !== b.type || a.attempt !== b.attempt) return false;
  if ("request" in a && "request" in b && a.request !== b.request) return false;
  if (a.type !== "check_judged" || b.type !== "check_judged") return true;
  return a.check === b.check && a.pass === b.pass && a.sweep === b.sweep && a.snapshot === b.snapshot;
}

function filesOf(event: TraceEvent): readonly FileRef[] {
  if (event.type === "check_judged") return event.evidence;
  return event.type === "agent_finished" && event.reply !== null ? [event.reply] : [];
}

/** Copies one file between two folders where it is still there; a path that leads out of them is none of ours. */
export function copyEvidence(path: string, fromDir: string, toDir: string): void {
  const from = join(fromDir, path);
  if (path.split(/[\\/]/u).includes("..") || !existsSync(from)) return;
  const to = join(toDir, path);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
