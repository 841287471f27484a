import { setTimeout as delay } from "node:timers/promises";
import { leftoversOf, linesOf, outcomeOf, phaseOf, type Outcome } from "./inspect.ts";
import { hasRun, startRun, type Stage, type Subject } from "./subject.ts";

/** A run that nothing disturbed. */
export interface Undisturbed {
  readonly outcome: Outcome;
  readonly durationMs: number;
}

/** Lets a subject run to its end; what kills do is compared with this. */
export async function runWhole(subject: Subject, stage: Stage): Promise<Undisturbed> {
  const started = performance.now();
  const { code, stderr } = await startRun(subject, stage).finished;
  if (code !== 0) throw new Error(`the undisturbed run of ${subject.name} ended with ${String(code)}: ${stderr}`);
  return { outcome: await outcomeOf(stage), durationMs: performance.now() - started };
}

/** What one sequence of kills and resumes came to. */
export interface Figures {
  readonly kills: number;
  readonly resumes: number;
  /** Phase of each kill. */
  readonly phases: readonly string[];
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly leftovers: readonly string[];
  /** Whatever else is not as in the undisturbed run. */
  readonly differences: readonly string[];
}

/** When to kill: moments after a start, uniform over `durationMs`. */
export interface KillPlan {
  readonly undisturbed: Undisturbed;
  /** Most kills of this sequence. */
  readonly most: number;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/** Kills a run at random moments and goes on with it until it ends by itself or has been killed often enough. */
export async function killAndResume(subject: Subject, stage: Stage, plan: KillPlan): Promise<Figures> {
  const phases: string[] = [];
  const differences: string[] = [];
  let resumes = 0;
  for (let isOver = false; !isOver;) {
    if (hasRun(stage)) resumes += 1;
    const before = linesOf(stage);
    const { child, finished } = startRun(subject, stage);
    const isLast = phases.length >= plan.most;
    if (!isLast && (await isStillRunning(finished, plan.random() * plan.undisturbed.durationMs))) {
      child.kill("SIGKILL");
    }
    const { code, stderr } = await finished;
    const after = linesOf(stage);
    if (JSON.stringify(after.slice(0, before.length)) !== JSON.stringify(before))
      differences.push("earlier lines of the trace");
    if (child.signalCode === "SIGKILL") phases.push(phaseOf(stage));
    else if (code !== 0)
      throw new Error(`${subject.name} ended with ${String(code)} after ${phases.join(", ")}: ${stderr}`);
    else isOver = true;
  }
  const outcome = await outcomeOf(stage);
  const whole = plan.undisturbed.outcome;
  return {
    kills: phases.length,
    resumes,
    phases,
    lost: [...whole.judged].filter((key) => !outcome.judged.has(key)),
    doubled: outcome.doubled,
    leftovers: await leftoversOf(stage, subject.sandbox === "docker"),
    differences: [...differences, ...differencesOf(whole, outcome)],
  };
}

/** What two outcomes differ in. */
export function differencesOf(whole: Outcome, other: Outcome): readonly string[] {
  const compared = [
    ["score", whole.score, other.score],
    ["verdicts that are not YES", whole.notYes.join(), other.notYes.join()],
    ["usage of the turns that count", whole.usage, other.usage],
    ["calls of all turns, against the list of calls", `${other.listed}`, `${other.calls}`],
  ] as const;
  return compared.flatMap(([what, a, b]) => (a === b ? [] : [`${what}: ${a} and ${b}`]));
}

async function isStillRunning(finished: Promise<unknown>, waitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(waitMs, true, { signal: timer.signal }).catch(() => false);
  const isRunning = await Promise.race([finished.then(() => false), late]);
  timer.abort();
  return isRunning;
}
