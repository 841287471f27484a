import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { differencesOf, type Undisturbed } from "./kill.ts";
import { leftoversOf, linesOf, outcomeOf, processesOf } from "./inspect.ts";
import { openWritingModel, startRun, type Stage, type Subject } from "./subject.ts";

const exec = promisify(execFile);
const TOO_SMALL = "size=72k";
const MOST_RESUMES = 5;
const BROWSER_KILLS = 3;
const POLL_MS = 50;
const LIMIT_MS = 300_000;

/** What a fault is made to happen to. */
export interface Suffering {
  readonly stage: Stage;
  readonly subject: Subject;
  readonly whole: Undisturbed;
}

/** What was done, and what was not as in the undisturbed run. */
export interface Suffered {
  readonly happened: string;
  readonly wrong: readonly string[];
}

/** Faults around a run, by name. */
export const FAULTS: Readonly<Record<string, (suffering: Suffering) => Promise<Suffered>>> = { disk, browser, model };

/** The disk under the run folder is full, and gets room before the run goes on. Needs root. */
async function disk({ stage, subject, whole }: Suffering): Promise<Suffered> {
  await mkdir(stage.out);
  await exec("mount", ["-t", "tmpfs", "-o", TOO_SMALL, "tmpfs", stage.out]);
  try {
    const { code, stderr } = await startRun(subject, stage).finished;
    const said = stderr.includes("Free some space") || stderr.includes("ENOSPC") || stderr.includes("No space");
    const wrong = code === 1 && said ? [] : [`a full disk ended with ${String(code)}: ${stderr.slice(-500)}`];
    await exec("mount", ["-o", "remount,size=64m", stage.out]);
    const resumes = await goOn(subject, stage);
    return { happened: `full, then room, ${resumes} resumes`, wrong: [...wrong, ...(await compare(whole, stage))] };
  } finally {
    await exec("umount", [stage.out]);
  }
}

/** The browser is killed in the middle of checks. */
async function browser({ stage, subject, whole }: Suffering): Promise<Suffered> {
  const { finished } = startRun(subject, stage);
  let kills = 0;
  for (; kills < BROWSER_KILLS; kills += 1) {
    const before = linesOf(stage).length;
    const isInTime = await until(() => linesOf(stage).length > before && browsersOf(stage).length > 0, finished);
    if (!isInTime) break;
    for (const { pid } of browsersOf(stage)) endProcess(pid);
  }
  const { code, stderr } = await finished;
  // A check whose browser died at every try is MISSING (exit code 3), and can be judged again alone.
  const wrong = code === 0 || code === 3 ? [] : [`ended with ${String(code)}: ${stderr.slice(-500)}`];
  const resumes = code === 0 ? 0 : await goOn({ ...subject, retriesMissing: true }, stage);
  return {
    happened: `killed ${kills} times (run ended with ${String(code)}), ${resumes} resumes`,
    wrong: [...wrong, ...(await compare(whole, stage))],
  };
}

const browsersOf = (stage: Stage) => processesOf(stage).filter(({ name }) => /chrom/u.test(name));

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** The model's endpoint is gone from its second call on, and comes back when the run has given up. */
async function model({ stage, subject, whole }: Suffering): Promise<Suffered> {
  const first = await openWritingModel();
  const url = first.url;
  const builtin: Subject = { ...subject, agent: "builtin", modelUrl: url };
  const { finished } = startRun(builtin, stage);
  await until(() => first.calls.length > 1, finished);
  await first[Symbol.asyncDispose]();
  const { code } = await finished;
  await using _again = await openWritingModel(Number(new URL(url).port));
  const resumes = await goOn(builtin, stage);
  const outcome = await outcomeOf(stage);
  const wrong = outcome.score === whole.outcome.score ? [] : ["score differs"];
  const left = await leftoversOf(stage, false);
  return {
    happened: `gone (run ended with ${String(code)}), then back, ${resumes} resumes`,
    wrong: [...wrong, ...left],
  };
}

async function goOn(subject: Subject, stage: Stage): Promise<number> {
  for (let resumes = 1; ; resumes += 1) {
    const { code, stderr } = await startRun(subject, stage).finished;
    if (code === 0) return resumes;
    if (resumes === MOST_RESUMES) throw new Error(`does not get to its end: ${stderr}`);
  }
}

async function compare(whole: Undisturbed, stage: Stage): Promise<readonly string[]> {
  const outcome = await outcomeOf(stage);
  // Verdicts that nobody could reach stay in the trace when a later pass has reached them; the score has them, should they count.
  const reached = { ...outcome, notYes: outcome.notYes.filter((one) => !one.endsWith("MISSING")) };
  return [...differencesOf(whole.outcome, reached), ...outcome.doubled, ...(await leftoversOf(stage, false))];
}

/** False when the run ended before. */
async function until(holds: () => boolean, finished: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  void finished.then(() => over.abort());
  const limit = AbortSignal.timeout(LIMIT_MS);
  while (!holds()) {
    if (over.signal.aborted || limit.aborted) return false;
    await delay(POLL_MS);
  }
  return true;
}
