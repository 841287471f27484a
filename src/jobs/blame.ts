// Which request broke a check: judges it on snapshots between the last good and the first bad observation, halving what is left.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import pLimit from "p-limit";
import { findSource } from "../dataset/match-check.ts";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import { brokenParentsOf, tellApp, type AppStory, type Break, type Judged } from "../report/app-story.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import { judgeRequest } from "../runner/judge-request.ts";
import { openAppJudging, snapshotDir, type AppJudging } from "../runner/open-app-judging.ts";
import { openJudgeModel } from "../runner/open-judge-model.ts";
import { openJudge } from "../runner/open-judge.ts";
import type { RunOptions } from "../runner/options.ts";
import { resolveOptions } from "../runner/resolve-options.ts";
import { diffSnapshots, type SnapshotDiff } from "../runner/snapshot-diff.ts";
import { SnapshotStore } from "../runner/snapshot-store.ts";
import type { Verdict } from "../trace/event.ts";
import { createMask } from "../trace/mask.ts";
import { appDirName } from "../trace/run-folder.ts";
import { blameDir, readBlamed } from "./blame/blame-folder.ts";
import { openLooking } from "./open-looking.ts";
import { copySnapshots } from "./rejudge/carry-over.ts";
import { datasetOf, openSource, sourceDir, sourceEvents, type Source } from "./rejudge/open-source.ts";

/** Which check of which app. */
export interface BlameRequest {
  /** Run folder; what is seen is kept in its folder `blame`, and a report takes it in. */
  readonly run: string;
  readonly sampleIndex: number;
  /** 1-based. */
  readonly request: number;
  /** 0-based; a backward check stands for the check it was copied from. */
  readonly check: number;
  /** Options that differ from the run's. */
  readonly given: Partial<RunOptions>;
  readonly environment: RunEnvironment;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Who broke a check. */
export interface Blamed {
  readonly sampleIndex: number;
  /** The own check, as "request.check". */
  readonly check: string;
  /** `sound`: never seen broken; `from_start`: never seen YES; `undecided`: snapshots between could not be judged. */
  readonly status: "sound" | "from_start" | "regression" | "undecided";
  /** Requests that can have broken it, first and last; the same twice when it is known, null when it is sound. */
  readonly suspects: readonly [number, number] | null;
  readonly verdict: Verdict | null;
  /** Null when it is sound. */
  readonly ground: "root" | "inherited" | null;
  /** Requests it builds on that had broken checks by then. */
  readonly brokenParents: readonly number[];
  /** Every snapshot it was looked at on, in order. */
  readonly seen: readonly { readonly snapshot: number; readonly verdict: Verdict }[];
  /** What the request that broke it changed; null when that is not known. */
  readonly diff: SnapshotDiff | null;
  /** Pictures of the last YES and of the first other verdict. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Finds the request that broke a check; throws `usage` for an app or check that the run does not have, else as `rejudge` does. */
export async function blame(request: BlameRequest): Promise<Blamed> {
  const source = openSource(request.run);
  const { sampled, own } = locate(source, request);
  const first = tellAgain(source, sampled);
  const found = lastBreak(first, own);
  if (found === undefined || found.lastGood === null || found.suspects[0] === found.suspects[1]) {
    return conclude(source, sampled, own);
  }
  await bisect(source, request, { sampled, own });
  return conclude(source, sampled, own);
}

interface OwnCheck {
  readonly request: number;
  readonly check: number;
}

function locate({ plan }: Source, request: BlameRequest): { readonly sampled: SampledRow; readonly own: OwnCheck } {
  const sampled = plan.rows.find(({ sampleIndex }) => sampleIndex === request.sampleIndex);
  if (sampled === undefined) throw new EvowebError("usage", `${plan.dir} has no app ${request.sampleIndex}`);
  const check = sampled.row.requests[request.request - 1]?.checks[request.check];
  if (check === undefined) {
    throw new EvowebError(
      "usage",
      `app ${request.sampleIndex} has no check ${request.request}.${request.check}: give request and check, checks from 0`,
    );
  }
  const origin = check.role === "backward" ? findSource(sampled.row, check) : request;
  if (origin === undefined) throw new EvowebError("usage", "this backward check was copied from no check of the row");
  return { sampled, own: { request: origin.request, check: origin.check } };
}

/** The story of an app with what earlier blaming saw. */
function tellAgain(source: Source, sampled: SampledRow): AppStory {
  const blamed = readBlamed(source.plan.dir, sampled.sampleIndex);
  return tellApp(sampled, [...sourceEvents(source, sampled.sampleIndex), ...blamed.events]);
}

const lastBreak = ({ breaks }: AppStory, own: OwnCheck): Break | undefined =>
  breaks.findLast(({ request, check }) => request === own.request && check === own.check);

interface Target {
  readonly sampled: SampledRow;
  readonly own: OwnCheck;
}

async function bisect(source: Source, request: BlameRequest, { sampled, own }: Target): Promise<void> {
  const { environment, say, signal } = request;
  const options = resolveOptions({ given: { ...source.options, ...request.given } });
  await using model = await openJudgeModel(options, request);
  const judge = await openJudge(options, await datasetOf(source, options), model);
  if (judge === null) throw new EvowebError("usage", "nothing can be judged without a judge; name one with --judge");
  const dir = blameDir(source.plan.dir);
  const appDir = join(dir, appDirName(sampled.sampleIndex));
  await copySnapshots(sourceDir(source.plan, sampled.sampleIndex), appDir);
  try {
    const agent = source.plan.run.provenance.agent.name ?? "unknown";
    await using looking = await openLooking(request, { options, agent, runId: `blame-${process.pid}` });
    const shared = { dir, options, judge, ...looking, slots: pLimit(1), mask: createMask(environment.secrets) };
    await using app = await openAppJudging({ ...shared, listen: () => {}, signal }, sampled);
    for (let middle = nextToLookAt(); middle !== null; middle = nextToLookAt()) {
      const verdict = await lookAt(app, { sampled, own }, middle);
      say(`after request ${middle}: ${verdict ?? "no snapshot"}`);
      if (verdict === null || verdict === "MISSING") return;
    }
  } finally {
    // The run has them; only what was seen is worth keeping.
    await rm(snapshotDir(appDir), { recursive: true, force: true });
  }

  function nextToLookAt(): number | null {
    const found = lastBreak(tellAgain(source, sampled), own);
    if (found === undefined || found.lastGood === null || found.firstBad - found.lastGood < 2) return null;
    return Math.floor((found.lastGood + found.firstBad) / 2);
  }
}

/** Judges the check on one snapshot; null when there is none. */
async function lookAt(app: AppJudging, { sampled, own }: Target, snapshot: number): Promise<Verdict | null> {
  const sha = await app.store.find(snapshot);
  const request = sampled.row.requests[own.request - 1];
  if (sha === null || request === undefined) return null;
  const others = request.checks.map((_, index) => index).filter((index) => index !== own.check);
  const context = app.judging({ sha, tree: await app.store.treeOf(sha) });
  const job = { request, attempt: 1, pass: 1, judged: new Set(others), isSweep: true, snapshot };
  await judgeRequest(context, job);
  app.trace.sync();
  const { events } = readBlamed(join(app.dir, "..", ".."), sampled.sampleIndex);
  const judged = events.findLast(
    (event): event is Judged => event.type === "check_judged" && event.snapshot === snapshot && isOf(event, own),
  );
  return judged?.verdict ?? null;
}

const isOf = (event: Judged, own: OwnCheck): boolean => event.request === own.request && event.check === own.check;

async function conclude(source: Source, sampled: SampledRow, own: OwnCheck): Promise<Blamed> {
  const { sampleIndex, row } = sampled;
  const story = tellAgain(source, sampled);
  const seen =
    story.checks.find(({ request, check }) => request === own.request && check === own.check)?.sightings ?? [];
  const common = {
    sampleIndex,
    check: `${own.request}.${own.check}`,
    seen: seen.map(({ at, judged }) => ({ snapshot: at, verdict: judged.verdict })),
  };
  const found = lastBreak(story, own);
  if (found === undefined) {
    const nothing = {
      suspects: null,
      verdict: null,
      ground: null,
      brokenParents: [],
      diff: null,
      before: [],
      after: [],
    };
    return { ...common, status: "sound", ...nothing };
  }
  const [first, last] = found.suspects;
  const isKnown = first === last;
  const brokenParents = brokenParentsOf(row, story.checks, { request: own.request, until: last });
  const pictures = (at: number | null): string[] =>
    seen.filter((sighting) => sighting.at === at).flatMap(({ judged }) => picturesOf(source, sampleIndex, judged));
  return {
    ...common,
    status: found.lastGood === null ? "from_start" : isKnown ? "regression" : "undecided",
    suspects: found.suspects,
    verdict: found.verdict,
    ground: brokenParents.length === 0 ? "root" : "inherited",
    brokenParents,
    diff: isKnown ? await diffOf(source, sampleIndex, last) : null,
    before: pictures(found.lastGood),
    after: pictures(found.firstBad),
  };
}

function picturesOf(source: Source, sampleIndex: number, judged: Judged): string[] {
  // Those of an ordinary verdict are in the run, those of a snapshot that was looked at here are not.
  const dir =
    judged.snapshot === undefined ? sourceDir(source.plan, sampleIndex) : readBlamed(source.plan.dir, sampleIndex).dir;
  return judged.evidence.filter(({ path }) => extname(path) === ".webp").map(({ path }) => resolve(dir, path));
}

async function diffOf({ plan }: Source, sampleIndex: number, request: number): Promise<SnapshotDiff | null> {
  const repository = snapshotDir(sourceDir(plan, sampleIndex));
  // Opening would make one, and a run whose snapshots were left out stays as it is.
  if (!existsSync(repository)) return null;
  const store = await SnapshotStore.open(repository);
  const to = await store.find(request);
  return to === null ? null : diffSnapshots(store, { from: request === 1 ? null : await store.find(request - 1), to });
}
