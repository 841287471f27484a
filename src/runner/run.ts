// The plan of a run: what is needed is opened, then each app goes through its requests; a trace is all that comes out.
import { resolve } from "node:path";
import pLimit from "p-limit";
import { builtInFolder } from "../dataset/locate-rows.ts";
import { openDataset } from "../dataset/open-dataset.ts";
import { openBrowserPool } from "../judge/browser-pool.ts";
import { findChromium } from "../judge/chromium.ts";
import type { TraceEvent } from "../trace/event.ts";
import { createMask } from "../trace/mask.ts";
import { readRunPlan } from "../trace/run-folder.ts";
import { choosePace } from "./app-slots.ts";
import { openCheckSlots } from "./check-slots.ts";
import { runApp } from "./run-app.ts";
import { describeRun } from "./describe-run.ts";
import { openAgent } from "./open-agent.ts";
import { mayBegin, openBudget } from "./open-budget.ts";
import { openAppRun } from "./open-app-run.ts";
import { openJudge } from "./open-judge.ts";
import { openAgentImage, openModels } from "./open-models.ts";
import { judgeSpending, openJudgeModel } from "./open-judge-model.ts";
import type { RunOptions } from "./options.ts";
import { planRows } from "./plan-rows.ts";
import { registryTargets } from "./registry.ts";
import { resolveOptions } from "./resolve-options.ts";
import { sourceOf } from "./row-source.ts";
import { newRunId, openRun } from "./run-folder.ts";
import { requireSameInputs } from "./same-inputs.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { RunEnvironment } from "./environment.ts";

/** What `run` is asked for. */
export interface RunRequest {
  /** Options that were given; the rest comes from the defaults, or on resume from the run folder. */
  readonly given: Partial<RunOptions>;
  /** Folder of the new run; absent: one of its own below `runs/`. */
  readonly out?: string;
  /** Folder of the run to go on with. */
  readonly resume?: string;
  readonly environment: RunEnvironment;
  /** Called after each event has reached the trace. */
  readonly listen: (event: TraceEvent) => void;
  /** One line a person should read: a fallback, a first build. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Stops the run once the checks under way have ended. */
  readonly pause?: AbortSignal;
  /** On resume: judge again what has no verdict in finished requests. */
  readonly retryMissing?: boolean;
}

/** Runs (or goes on with) a run and resolves with its folder once every app is finished or stopped. */
export async function run(request: RunRequest): Promise<{ readonly dir: string }> {
  const { environment, say, resume } = request;
  const mask = createMask(environment.secrets);
  const options = resolveOptions({ ...request, mask });
  const { slots, signal } = openCheckSlots(options.checksAtOnce, request.signal, request.pause);
  const plan = resume === undefined ? null : readRunPlan(resume);
  const dataset = await openDataset(options.dataset, sourceOf(options, plan?.run ?? null, request));
  const rows = plan?.rows ?? planRows(dataset.apps, options.requests);
  const runId = plan?.run.runId ?? newRunId(options.agent);
  const agent = openAgent(options, dataset);
  const models = openModels({ options, agent, environment, resume });
  await using model = await openJudgeModel(options, {
    ...request,
    spentBefore: resume === undefined ? [] : judgeSpending(resume),
  });
  const judge = await openJudge(options, dataset, model);
  await using sandbox = await openSandbox({ options, agent, environment, runId, say, signal });
  const agentImage = await openAgentImage({ options, agent, environment, sandbox: sandbox.kind, say, signal });
  const chromium = await findChromium({ explicitPath: environment.chromium, playwrightAllowed: true });
  await using pool = await openBrowserPool({ chromium });
  const description = await describeRun({ runId, options, dataset, agent, agentImage, judge, sandbox, pool });
  if (plan !== null) requireSameInputs(plan.run, description);
  const pace = choosePace(options, { waitsForModel: agent.needsModel === true, apps: rows.length });
  using folder = openRun(request, { description, rows, options, mask, pace });
  const budget = openBudget(options, { dir: folder.dir, rows });
  const listen = budget.listenTo(request.listen);
  const apps = pLimit(pace.workers);
  const installTargets = options.offline ? [] : [...(await registryTargets()), ...options.allow];
  const judgePaths = [resolve(folder.dir), resolve(options.dataset), builtInFolder];
  const forAgent = { agent, judgePaths, ...models, ...(agentImage === null ? {} : { agentImage: agentImage.tag }) };
  const shared = {
    ...forAgent,
    dir: folder.dir,
    installTargets,
    options,
    judge,
    sandbox,
    pool,
    slots,
    mask,
    listen,
    signal,
    budget,
    retryMissing: request.retryMissing === true,
  };
  await folder.whileOpen(
    rows.map((sampled) =>
      apps(async () => {
        if (!mayBegin(shared, sampled, say)) return;
        await using app = await openAppRun(shared, sampled);
        await runApp(app);
        budget.release(sampled.sampleIndex);
      }),
    ),
  );
  return { dir: folder.dir };
}
