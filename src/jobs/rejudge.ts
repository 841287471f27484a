// A run judged again: its snapshots (or only its evidence) under a judge, without the agent, into a run folder of its own.
import { resolve } from "node:path";
import pLimit from "p-limit";
import { EvowebError } from "../errors.ts";
import type { Judge } from "../judge/judge.ts";
import { describeRun } from "../runner/describe-run.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import { openJudgeModel } from "../runner/open-judge-model.ts";
import { openJudge } from "../runner/open-judge.ts";
import type { RunOptions } from "../runner/options.ts";
import { evowebVersion } from "../runner/provenance.ts";
import { resolveOptions } from "../runner/resolve-options.ts";
import { newRunId, openRun } from "../runner/run-folder.ts";
import type { TraceEvent } from "../trace/event.ts";
import { createMask } from "../trace/mask.ts";
import type { RunJson } from "../trace/run-json.ts";
import { openLooking, type Looking } from "./open-looking.ts";
import { compareVerdicts, type Changes } from "./rejudge/compare-verdicts.ts";
import { judgeAppAgain, type SharedAgain } from "./rejudge/judge-app-again.ts";
import { datasetOf, JudgeAgain, openSource, readAgain, type Source } from "./rejudge/open-source.ts";
import { numbersOf } from "./rejudge/select-checks.ts";
import type { SweptSnapshot } from "./rejudge/sweep-app.ts";

/** What is to be judged again. */
export interface RejudgeRequest {
  /** Folder of the run to judge again; not with `resume`. */
  readonly run?: string;
  /** Options that differ from the run's: the judge, and how apps are served and judged. */
  readonly given: Partial<RunOptions>;
  readonly again: Partial<JudgeAgain>;
  /** Folder of the new run; absent: one of its own below `runs/`. An existing run is never written over. */
  readonly out?: string;
  /** Folder of a job to go on with. */
  readonly resume?: string;
  readonly environment: RunEnvironment;
  readonly listen: (event: TraceEvent) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface Rejudged {
  readonly dir: string;
  /** How the new verdicts differ from those of the source and from each other. */
  readonly changes: Changes;
  /** What a sweep looked at, in the order of its end. */
  readonly swept: readonly SweptSnapshot[];
}

/** Judges a run again and resolves with the new run's folder; throws as `run` does. */
export async function rejudge(request: RejudgeRequest): Promise<Rejudged> {
  const { environment, listen, say, signal, resume } = request;
  const mask = createMask(environment.secrets);
  const { source, again } = whatAgain(request);
  const options = optionsOf(request, source, again);
  await using model = await openJudgeModel(options, request);
  const judge = await openJudge(options, await datasetOf(source, options), model);
  if (judge === null)
    throw new EvowebError("usage", "there is nothing to judge again without a judge; name one with --judge");
  const runId = newRunId(`judge-${judge.name}`);
  await using looking =
    again.from === "evidence"
      ? null
      : await openLooking(request, { options, agent: source.plan.run.provenance.agent.name, runId });
  const description = await describe({ source, again, options, judge, runId, looking });
  using folder = openRun(request, {
    description,
    rows: source.plan.rows,
    options,
    mask,
    pace: { workers: options.workers },
  });
  const { dir } = folder;
  const swept: SweptSnapshot[] = [];
  const common = { dir, options, judge, mask, listen, signal };
  const shared: SharedAgain = {
    source,
    again,
    judge,
    ...chosenNumbers(source, again),
    serving: looking === null ? null : { ...common, ...looking, slots: pLimit(options.checksAtOnce) },
    folder: common,
    swept: (snapshot) => swept.push(snapshot),
  };
  if (resume !== undefined) say(`going on with ${dir}, which judges ${source.plan.dir} again`);
  const apps = pLimit(options.workers);
  await folder.whileOpen(source.plan.rows.map((sampled) => apps(() => judgeAppAgain(shared, sampled))));
  return { dir, changes: compareVerdicts(source, dir), swept };
}

function whatAgain({ run, resume, again }: RejudgeRequest): { readonly source: Source; readonly again: JudgeAgain } {
  if (resume !== undefined) {
    const stored = readAgain(resume);
    return { source: openSource(stored.path), again: stored.again };
  }
  if (run === undefined) throw new EvowebError("usage", "name the run to judge again");
  const asked = JudgeAgain.parse(again);
  if (asked.sweep !== undefined && asked.from === "evidence") {
    throw new EvowebError("usage", "--sweep looks at apps again and cannot be used with --from evidence");
  }
  return { source: openSource(run), again: asked };
}

function optionsOf({ given, out, resume }: RejudgeRequest, { options }: Source, { sweep }: JudgeAgain): RunOptions {
  if (resume !== undefined) return resolveOptions({ given, resume, ...(out === undefined ? {} : { out }) });
  const observation = sweep === "final" ? { observation: "sweep" as const } : {};
  return resolveOptions({ given: { ...options, ...given, ...observation } });
}

function chosenNumbers({ plan }: Source, { apps, requests }: JudgeAgain): Pick<SharedAgain, "apps" | "requests"> {
  const longest = Math.max(...plan.rows.map(({ row }) => row.requests.length));
  const last = Math.max(...plan.rows.map(({ sampleIndex }) => sampleIndex));
  return { apps: numbersOf(apps, last, "apps"), requests: numbersOf(requests, longest, "requests") };
}

interface Described {
  readonly options: RunOptions;
  readonly source: Source;
  readonly runId: string;
  readonly again: JudgeAgain;
  readonly judge: Judge;
  readonly looking: Looking | null;
}

/** run.json of the new run: the source's inputs and agent, this job's judge, browser and place. */
async function describe({ source, again, options, judge, runId, looking }: Described): Promise<RunJson> {
  const { run, dir } = source.plan;
  const pointer = { runId: run.runId, path: resolve(dir), again };
  const { agent, dataset } = run.provenance;
  if (looking === null) {
    const asked = { name: judge.name, hash: judge.hash };
    const provenance = { ...run.provenance, evoweb: evowebVersion(), judge: asked };
    return { ...run, runId, options: { ...options }, source: pointer, provenance };
  }
  const { sandbox, pool } = looking;
  const own = await describeRun({
    runId,
    options,
    dataset: { name: dataset.name, contentHash: dataset.contentHash, truth: null },
    agent: { name: agent.name ?? "unknown" },
    judge,
    sandbox,
    pool,
  });
  return { ...own, source: pointer, provenance: { ...own.provenance, agent, dataset } };
}
