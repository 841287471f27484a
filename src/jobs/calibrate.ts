// A judge's error, measured where the truth is known: on a data set's solution and its mutants.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { openDataset, type Dataset } from "../dataset/open-dataset.ts";
import { EvowebError } from "../errors.ts";
import { createConstantJudge } from "../judge/constant-judge.ts";
import type { Judge } from "../judge/judge.ts";
import type { RunEnvironment } from "../runner/environment.ts";
import { openJudgeModel } from "../runner/open-judge-model.ts";
import type { ChatModel } from "../model/chat.ts";
import { openJudge } from "../runner/open-judge.ts";
import type { RunOptions } from "../runner/options.ts";
import { resolveOptions } from "../runner/resolve-options.ts";
import type { TraceEvent } from "../trace/event.ts";
import { createMask } from "../trace/mask.ts";
import { askAboutApp } from "./calibrate/ask.ts";
import { calibrationOf, type CalibratedJudge, type Calibration } from "./calibrate/calibration.ts";
import { planQuestions, type Question } from "./calibrate/plan-questions.ts";
import { openLooking } from "./open-looking.ts";
import { numbersOf } from "./rejudge/select-checks.ts";

/** What is to be measured. */
export interface CalibrateRequest {
  /** Options of judging; `judge` and its model among them. */
  readonly given: Partial<RunOptions>;
  /** A judge with a known answer instead of a real one. */
  readonly constant?: "always-yes" | "always-no";
  /** Request numbers such as "1,3-5"; absent: all. */
  readonly requests?: string;
  /** Mutants by id; absent: all. Empty: the solution only. */
  readonly mutants?: readonly string[];
  /** At most so many checks, drawn with a fixed seed; absent: all. */
  readonly checks?: number;
  /** Passes over each check, for the flip rate; default 1. */
  readonly repeats?: number;
  /** Folder of calibrations; default `runs/calibrations`. */
  readonly out?: string;
  readonly environment: RunEnvironment;
  readonly listen: (event: TraceEvent) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Measures a judge; the document is stored as `<judge>-<key>.json`, its evidence in a folder of the same name. Throws as `run` does. */
export async function calibrate(
  request: CalibrateRequest,
): Promise<{ readonly path: string; readonly calibration: Calibration }> {
  const { environment, listen, say, signal, repeats = 1, out = join("runs", "calibrations") } = request;
  const options = resolveOptions({ given: request.given });
  const dataset = await openDataset(options.dataset, options.apps === undefined ? {} : { apps: options.apps });
  const { truth } = dataset;
  if (truth === null) {
    throw new EvowebError(
      "usage",
      `${dataset.name} has no solutions and mutants to measure a judge on; use --labels with a run`,
    );
  }
  const questions = planQuestions({ ...choiceOf(request, dataset), mutants: truth.mutants });
  await using model = await openJudgeModel(options, request);
  const judge = await judgeOf(request, { options, dataset, model });
  const mask = createMask(environment.secrets);
  await using looking = await openLooking(request, { options, runId: `calibrate-${process.pid}`, agent: null });
  const browser = looking.pool.info.version;
  const name = freeName(out, `${judge.name}-${keyOf(judge, browser, questions)}`);
  const dir = join(out, name);
  mkdirSync(dir, { recursive: true });
  say(`asking ${judge.name} about ${questions.length} checks, ${repeats} ${repeats === 1 ? "time" : "times"} each`);
  const shared = { ...looking, dir, options, judge, mask, listen, signal, slots: pLimit(options.checksAtOnce) };
  const apps = pLimit(options.workers);
  const settled = await Promise.allSettled(
    dataset.apps.map((app) => {
      const own = questions.filter(({ sampleIndex }) => sampleIndex === app.sampleIndex);
      return apps(() => askAboutApp({ shared, truth, repeats }, app, own));
    }),
  );
  const asked = settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  const about: CalibratedJudge = {
    name: judge.name,
    hash: judge.hash,
    browser,
    truth: dataset.name,
    time: new Date().toISOString(),
    notAsked: asked.reduce((sum, one) => sum + one.notAsked, 0),
    setup: {
      contentHash: dataset.contentHash,
      planned: questions.length,
      repeats,
      sandbox: looking.sandbox.kind,
      isolation: options.isolation,
    },
    ...noteOn(judge),
  };
  const calibration = calibrationOf(
    about,
    asked.flatMap(({ answers }) => answers),
  );
  const path = join(out, `${name}.json`);
  writeFileSync(path, mask(`${JSON.stringify(calibration, undefined, 2)}\n`), { flag: "wx" });
  return { path, calibration };
}

function choiceOf({ requests, mutants, checks }: CalibrateRequest, { apps }: Dataset) {
  const longest = Math.max(...apps.map(({ row }) => row.requests.length));
  return {
    apps,
    requests: numbersOf(requests, longest, "requests"),
    ...(mutants === undefined ? {} : { mutantIds: mutants }),
    ...(checks === undefined ? {} : { checks }),
  };
}

interface JudgeParts {
  readonly options: RunOptions;
  readonly dataset: Dataset;
  readonly model: ChatModel | null;
}

async function judgeOf({ constant }: CalibrateRequest, { options, dataset, model }: JudgeParts): Promise<Judge> {
  if (constant !== undefined) return createConstantJudge(constant === "always-yes" ? "YES" : "NO");
  const judge = await openJudge(options, dataset, model);
  if (judge === null) throw new EvowebError("usage", "name the judge to measure with --judge");
  return judge;
}

function noteOn({ name }: Judge): { readonly note?: string } {
  if (name === "oracle")
    return { note: "The truth is made by these oracles: perfect by construction, and no measurement." };
  return name.startsWith("always-") ? { note: "Answers without looking; a check of the instrument, not a judge." } : {};
}

/** Names judge (its hash covers prompts and model), browser and questions. */
function keyOf({ hash }: Judge, browser: string | null, questions: readonly Question[]): string {
  return createHash("sha256")
    .update(JSON.stringify([hash, browser, questions]))
    .digest("hex")
    .slice(0, 12);
}

/** A name that nothing has yet: asking again must not lose what was measured before. */
function freeName(out: string, name: string): string {
  let free = name;
  for (let number = 2; existsSync(join(out, free)) || existsSync(join(out, `${free}.json`)); number += 1) {
    free = `${name}-${number}`;
  }
  return free;
}
