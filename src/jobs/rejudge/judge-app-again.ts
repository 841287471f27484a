import { join } from "node:path";
import { rowHash } from "../../dataset/content-hash.ts";
import type { SampledRow } from "../../dataset/row.ts";
import { EvowebError } from "../../errors.ts";
import type { Judge } from "../../judge/judge.ts";
import { judgeRequest } from "../../runner/judge-request.ts";
import type { JudgeJob, Tally } from "../../runner/judging.ts";
import {
  openAppFolder,
  openAppJudging,
  type AppFolder,
  type AppJudging,
  type SharedJudging,
} from "../../runner/open-app-judging.ts";
import { appDirName } from "../../trace/run-folder.ts";
import { carryEnd, carryRequest, carryVerdict, copySnapshots, type Carrying } from "./carry-over.ts";
import { sourceDir, sourceEvents, type JudgeAgain, type Source } from "./open-source.ts";
import { ruleAgain, ruledEvidence, requireOwnEvidence } from "./rule-again.ts";
import { selectChecks } from "./select-checks.ts";
import { readSourceRequests, readSweep, type SourceRequest } from "./source-requests.ts";
import { sweepApp, type SweptSnapshot } from "./sweep-app.ts";

/** What all apps of a job share. */
export interface SharedAgain {
  readonly source: Source;
  readonly again: JudgeAgain;
  readonly judge: Judge;
  /** Apps and requests that were chosen; null: all. */
  readonly apps: ReadonlySet<number> | null;
  readonly requests: ReadonlySet<number> | null;
  /** What serves and looks at apps; null when only stored evidence is ruled on. */
  readonly serving: SharedJudging | null;
  readonly folder: Pick<SharedJudging, "dir" | "mask" | "listen" | "signal">;
  /** Called with each snapshot of a sweep. */
  readonly swept: (snapshot: SweptSnapshot) => void;
}

/** Judges one app of the source again; what is not judged again is carried over. */
export async function judgeAppAgain(shared: SharedAgain, sampled: SampledRow): Promise<void> {
  const { source, again } = shared;
  const { sampleIndex, row } = sampled;
  const events = sourceEvents(source, sampleIndex);
  if (events.length === 0) return;
  const from = sourceDir(source.plan, sampleIndex);
  await copySnapshots(from, join(shared.folder.dir, appDirName(sampleIndex)));
  await using app = await openApp(shared, sampled);
  const { trace } = app.folder;
  const known = app.folder.events;
  const sourceJudge = source.plan.run.provenance.judge;
  const carrying: Carrying = { sourceDir: from, trace, known, sourceJudge, looksAgain: shared.serving !== null };
  trace.emit(1, { type: "app_started", rowHash: rowHash(row) });
  const requests = readSourceRequests(row, events);
  for (const request of requests) await judgeRequestAgain(shared, app, { carrying, request });
  if (again.sweep !== "final") for (const verdict of readSweep(events)) carryVerdict(carrying, verdict);
  if (again.sweep !== undefined && shared.apps?.has(sampleIndex) !== false) {
    const { judging } = app;
    if (judging === null)
      throw new EvowebError("usage", "--sweep looks at apps and cannot be used with --from evidence");
    await sweepApp({ app: judging, sampled, requests, again, swept: shared.swept });
  }
  carryEnd(carrying, events);
  trace.sync();
}

/** One app's new folder, and what serves it where that is wanted. */
interface OpenApp extends AsyncDisposable {
  readonly rowId: string;
  readonly folder: Pick<AppFolder, "trace" | "events">;
  readonly judging: AppJudging | null;
}

async function openApp({ serving, folder }: SharedAgain, sampled: SampledRow): Promise<OpenApp> {
  const rowId = sampled.row.id;
  if (serving !== null) {
    const judging = await openAppJudging(serving, sampled);
    return { rowId, folder: judging, judging, [Symbol.asyncDispose]: () => judging[Symbol.asyncDispose]() };
  }
  const opened = openAppFolder(folder, sampled);
  return {
    rowId,
    folder: opened,
    judging: null,
    [Symbol.asyncDispose]: () => Promise.resolve(opened[Symbol.dispose]()),
  };
}

interface OneRequest {
  readonly carrying: Carrying;
  readonly request: SourceRequest;
}

async function judgeRequestAgain(shared: SharedAgain, app: OpenApp, { carrying, request }: OneRequest): Promise<void> {
  const { trace, known } = carrying;
  const { number } = request.request;
  if (known.some((event) => event.type === "request_finished" && event.request === number)) return;
  const chosen = chooseChecks(shared, carrying, request);
  carryRequest(carrying, request, chosen);
  if (chosen.size === 0) return;
  const started = performance.now();
  const total: Tally = { starts: 0, startMs: 0, browserMs: 0 };
  for (let repeat = 1; repeat <= shared.again.repeats; repeat += 1) {
    const pass = request.nextPass + repeat - 1;
    const done = known.filter(
      (event) => event.type === "check_judged" && event.request === number && event.pass === pass,
    );
    const isDone = new Set(done.map((event) => (event.type === "check_judged" ? event.check : -1)));
    const left = request.request.checks.flatMap((_, index) => (chosen.has(index) && !isDone.has(index) ? [] : [index]));
    if (left.length === request.request.checks.length) continue;
    const { attempt } = request;
    const job = {
      request: request.request,
      attempt,
      pass,
      sample: `r${repeat}`,
      judged: new Set(left),
      isSweep: false,
    };
    add(total, await judgeOnce(shared, app, { carrying, request, job }));
  }
  trace.emit(request.attempt, {
    type: "request_finished",
    request: number,
    durationMs: Math.round(performance.now() - started),
    starts: total.starts,
    startMs: Math.round(total.startMs),
    browserMs: Math.round(total.browserMs),
  });
  trace.sync();
}

/** Checks of a request that are judged again; in a sweep none are, and from evidence only those that a judge ruled on. */
function chooseChecks(shared: SharedAgain, { sourceDir: from, trace, sourceJudge }: Carrying, request: SourceRequest) {
  const { again, apps, requests, judge, source } = shared;
  if (again.sweep !== undefined || apps?.has(trace.sampleIndex) === false) return new Set<number>();
  const { only } = again;
  const chosen = selectChecks(request, only === undefined ? { requests } : { requests, only });
  if (again.from === "snapshots") return new Set(chosen);
  return new Set(
    chosen.filter((index) => {
      const verdict = request.verdicts.get(index);
      if (verdict === undefined || ruledEvidence(from, verdict) === null) return false;
      requireOwnEvidence(judge, (verdict.judge ?? sourceJudge)?.name, source.plan.dir);
      return true;
    }),
  );
}

async function judgeOnce(
  { judge, folder }: SharedAgain,
  { rowId, judging }: OpenApp,
  { carrying, request, job }: OneRequest & { readonly job: JudgeJob },
): Promise<Tally> {
  if (judging !== null && request.snapshot !== null) return judgeRequest(judging.judging(request.snapshot), job);
  await ruleAgain({ judge, ...carrying, rowId, signal: folder.signal }, request, job);
  return { starts: 0, startMs: 0, browserMs: 0 };
}

function add(total: Tally, part: Tally): void {
  total.starts += part.starts;
  total.startMs += part.startMs;
  total.browserMs += part.browserMs;
}
