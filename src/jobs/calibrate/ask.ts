import { join } from "node:path";
import type { Dataset } from "../../dataset/open-dataset.ts";
import type { SampledRow } from "../../dataset/row.ts";
import { EvowebError } from "../../errors.ts";
import { judgeRequest } from "../../runner/judge-request.ts";
import { openAppJudging, type SharedJudging } from "../../runner/open-app-judging.ts";
import { packTar, type TarFile } from "../../runner/tar.ts";
import type { TraceEvent } from "../../trace/event.ts";
import { appDirName } from "../../trace/run-folder.ts";
import { wasAsked, type Answer } from "./calibration.ts";
import type { Question } from "./plan-questions.ts";

/** What asking needs. */
interface Asking {
  readonly shared: SharedJudging;
  readonly truth: NonNullable<Dataset["truth"]>;
  readonly repeats: number;
}

type Judged = Extract<TraceEvent, { type: "check_judged" }>;

/** Answers to the questions about one app, and how many were decided before the judge was asked. */
interface Asked {
  readonly answers: readonly Answer[];
  readonly notAsked: number;
}

/** Serves each tree that questions of one app are about and asks the judge; equal trees are prepared once. */
export async function askAboutApp(asking: Asking, sampled: SampledRow, questions: readonly Question[]): Promise<Asked> {
  const { truth, shared, repeats } = asking;
  const { row, sampleIndex } = sampled;
  const heard: Judged[] = [];
  const listen = (event: TraceEvent): void => {
    if (event.type === "check_judged") heard.push(event);
    shared.listen(event);
  };
  await using app = await openAppJudging({ ...shared, listen }, sampled);
  const specs = [...new Set(questions.map(({ spec }) => spec))];
  for (const request of row.requests) {
    for (const [index, spec] of specs.entries()) {
      const asked = questions.filter((one) => one.spec === spec && one.request === request.number);
      if (asked.length === 0) continue;
      const tree = await truth.replayTree(spec, row.id, request.number);
      const files = [...tree].map(([path, { mode, bytes }]): TarFile => ({ path, mode, bytes }));
      // What is served is told apart as attempts are, so that no evidence is written over.
      const attempt = index + 1;
      const snapshot = await app.store.commit(request.number, attempt, packTar(files));
      const wanted = new Set(asked.map(({ check }) => check));
      const judged = new Set([...request.checks.keys()].filter((check) => !wanted.has(check)));
      for (let pass = 1; pass <= repeats; pass += 1) {
        const job = { request, attempt, pass, sample: `r${pass}`, judged, isSweep: false };
        await judgeRequest(app.judging(snapshot), job);
      }
    }
  }
  const folder = join(shared.dir, appDirName(sampleIndex));
  const answers = questions.flatMap((question) =>
    answerOf({ question, heard, folder, attempt: specs.indexOf(question.spec) + 1 }),
  );
  return { answers, notAsked: questions.length - answers.length };
}

interface Heard {
  readonly question: Question;
  readonly heard: readonly Judged[];
  readonly attempt: number;
  readonly folder: string;
}

function answerOf({ question, heard, attempt, folder }: Heard): readonly Answer[] {
  const passes = heard.filter(
    (event) => event.request === question.request && event.check === question.check && event.attempt === attempt,
  );
  const [first] = passes;
  if (first === undefined) {
    const where = `${question.spec}, check ${question.request}.${question.check}`;
    throw new EvowebError("bug", `the calibration lost an answer: ${where}`);
  }
  return passes.every(wasAsked) ? [toAnswer(question, passes, folder)] : [];
}

/** What is known of a check apart from what was said of it. */
type Known = Pick<Answer, "sampleIndex" | "request" | "check" | "role" | "archetype" | "kind" | "spec" | "truth">;

/** Puts a check's truth beside its verdicts, one event a pass. */
export function toAnswer(known: Known, passes: readonly Judged[], folder: string): Answer {
  const { sampleIndex, request, check, role, archetype, kind, spec, truth } = known;
  const costs = passes.map(({ costUsd, usage }) => costUsd ?? (usage === null ? 0 : null));
  return {
    sampleIndex,
    request,
    check,
    role,
    archetype,
    kind,
    spec,
    truth,
    verdicts: passes.map(({ verdict }) => verdict),
    costUsd: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    durationMs: passes.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0),
    evidence: (passes[0]?.evidence ?? []).map(({ path }) => join(folder, path)),
  };
}
