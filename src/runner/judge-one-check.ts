import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SessionTarget } from "../judge/browser-session.ts";
import { judgeCheck, type JudgedCheck } from "../judge/judge-check.ts";
import type { AppDown } from "./app-down.ts";
import { isInfra, retryInfra, triesOf } from "./infra-retry.ts";
import {
  evidenceDir,
  type IndexedCheck,
  type JudgeContext,
  type JudgeJob,
  type Ruling,
  type Tally,
} from "./judging.ts";
import type { RunningApp } from "./running-app.ts";
import type { PreparedApp } from "./serve.ts";

/** A process whose port is gone is given this long to end too. */
const CRASH_WAIT_MS = 1_000;

/** What one check is judged on. */
export interface CheckServing {
  readonly one: IndexedCheck;
  readonly prepared: PreparedApp;
  /** The start that all checks of the request share; null: a fresh copy and start for this check. */
  readonly shared: RunningApp | null;
  readonly tally: Tally;
}

/** Judges one check on a started app; what goes wrong on the way is told apart by who failed. */
export async function judgeOneCheck(context: JudgeContext, job: JudgeJob, serving: CheckServing): Promise<Ruling> {
  const started = performance.now();
  const folder = `${evidenceDir(job)}/checks/${serving.one.index}`;
  mkdirSync(join(context.trace.dir, folder), { recursive: true });
  const apps = new AppSource(context, serving);
  try {
    const first = await apps.fresh();
    if (first.status === "down") return ruleDown(context, folder, first);
    return await observe(context, job, { serving, apps, folder });
  } catch (error) {
    if (error instanceof AppDidNotStart) return ruleDown(context, folder, error.down);
    if (!isInfra(error)) throw error;
    const evidence = [context.trace.writeText(`${folder}/infra.txt`, `${error.message}\n`)];
    const failure = error.code === "browser" ? "browser" : "sandbox";
    return {
      verdict: "MISSING",
      cause: "infra",
      class: failure,
      tries: triesOf(error),
      durationMs: performance.now() - started,
      evidence,
    };
  } finally {
    await apps.drop();
  }
}

class AppDidNotStart extends Error {
  readonly down: AppDown;

  constructor(down: AppDown) {
    super(`the app did not start: ${down.class}`);
    this.down = down;
  }
}

/** The started app of one check: shared by the request, or its own, which a broken try gets anew. */
class AppSource {
  readonly #context: JudgeContext;
  readonly #serving: CheckServing;
  #own: RunningApp | null = null;

  constructor(context: JudgeContext, serving: CheckServing) {
    this.#context = context;
    this.#serving = serving;
  }

  async fresh(): Promise<RunningApp | AppDown> {
    const { shared, prepared, tally } = this.#serving;
    if (shared !== null) return shared;
    await this.drop();
    const started = await retryInfra(() => this.#context.start(prepared), this.#context.signal);
    if (started.status === "down") return started;
    tally.starts += 1;
    tally.startMs += started.startMs;
    this.#own = started;
    return started;
  }

  get current(): RunningApp {
    const app = this.#serving.shared ?? this.#own;
    if (app === null) throw new TypeError("a check asked for its app before it was started");
    return app;
  }

  async drop(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    await own?.[Symbol.asyncDispose]();
  }
}

const targetOf = ({ url, proxy }: RunningApp): SessionTarget => ({ url, proxyServer: proxy.server });

interface Observing {
  readonly serving: CheckServing;
  readonly apps: AppSource;
  readonly folder: string;
}

async function observe(context: JudgeContext, job: JudgeJob, { serving, apps, folder }: Observing): Promise<Ruling> {
  const { trace, signal, judge, pool, mask } = context;
  if (judge === null) throw new TypeError("a check without a judge is decided before it gets here");
  const judged = await judgeCheck(judge, {
    pool,
    mask,
    task: {
      rowId: context.rowId,
      request: job.request.number,
      checkIndex: serving.one.index,
      check: serving.one.check,
      sample: job.sample ?? `${job.pass}`,
      target: targetOf(apps.current),
      async restart() {
        const down = await apps.current.restart();
        if (down !== null) throw new AppDidNotStart(down);
        return apps.current.url;
      },
      evidenceDir: join(trace.dir, folder),
      timeoutMs: context.checkTimeoutMs,
      signal,
    },
    async beforeRetry() {
      const again = await apps.fresh();
      if (again.status === "down") throw new AppDidNotStart(again);
      return targetOf(again);
    },
  });
  serving.tally.browserMs += judged.browserMs;
  const app = apps.current;
  // A keeper that starts a dead server again leaves only refused connections as a trace.
  const hasCrashed = app.lostConnections() > 0 || !(await app.isAlive());
  return rule(context, folder, { judged, app, hasCrashed });
}

interface Ruled {
  readonly judged: JudgedCheck;
  readonly app: RunningApp;
  readonly hasCrashed: boolean;
}

async function rule({ trace }: JudgeContext, folder: string, { judged, app, hasCrashed }: Ruled): Promise<Ruling> {
  const { result, tries, durationMs, evidenceFiles, usage } = judged;
  const asked = { usage, ...(result.rules === undefined ? {} : { rules: result.rules }) };
  const evidence = evidenceFiles.map((file) => trace.refer(`${folder}/${file}`));
  if (result.verdict === "YES") return { verdict: "YES", cause: result.cause, tries, durationMs, evidence, ...asked };
  evidence.push(trace.writeText(`${folder}/app.log`, app.log().text));
  // What was met before a crash stays met; anything else that a dead app did not show is the crash's doing.
  if (hasCrashed) {
    const { how, facts } = await crashOf(app);
    evidence.push(
      trace.writeText(`${folder}/crash.json`, `${JSON.stringify({ class: how, ...facts }, undefined, 2)}\n`),
    );
    return { verdict: "NO", cause: "app_down", class: how, tries, durationMs, evidence, ...asked };
  }
  const { verdict, cause } = result;
  const kind = result.class ?? (verdict === "MISSING" ? undefined : "wrong_behaviour");
  return { verdict, cause, ...(kind === undefined ? {} : { class: kind }), tries, durationMs, evidence, ...asked };
}

// A start command that lives on (a keeper, or a server that left its port) has no end to wait for.
async function crashOf(app: RunningApp): Promise<{ readonly how: string; readonly facts: object }> {
  const lostConnections = app.lostConnections();
  const end = await Promise.race([app.ended, delay(CRASH_WAIT_MS, null)]);
  const how = end?.how === "out_of_memory" ? "out_of_memory" : "crashed_while_judged";
  return { how, facts: { lostConnections, end } };
}

function ruleDown({ trace }: JudgeContext, folder: string, down: AppDown): Ruling {
  const facts = { class: down.class, ...down.evidence };
  const evidence = [trace.writeText(`${folder}/app-down.json`, `${JSON.stringify(facts, undefined, 2)}\n`)];
  return { verdict: "NO", cause: "app_down", class: down.class, tries: 1, durationMs: 0, evidence };
}
