import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { JudgeError, ScoredSource } from "../report/score-source.ts";
import { scoreSensitivity } from "../scoring/sensitivity.ts";
import type { RunJson } from "../trace/run-json.ts";

const share = z.number().min(0).max(1).nullable().default(null);
const rate = z.looseObject({ rate: share, low: share, high: share });
const Stored = z.looseObject({
  judge: z.looseObject({ name: z.string(), hash: z.string(), browser: z.string().nullable() }),
  checks: z.int(),
  falseYes: rate,
  falseNo: rate,
});

const percent = (value: number | null): string => (value === null ? "n/a" : `${(100 * value).toFixed(1)}%`);

/** The stored calibration (a file, or the largest in a folder) that belongs to a run's judge and browser; null when there is none. */
function findCalibration({ provenance }: RunJson, where: string): JudgeError["calibration"] {
  const { judge, browser } = provenance;
  const isFolder = existsSync(where) && statSync(where).isDirectory();
  const names = isFolder ? readdirSync(where).filter((name) => name.endsWith(".json")) : [];
  const files = isFolder ? names.map((name) => join(where, name)) : [where].filter(existsSync);
  const [best] = files
    .flatMap((file) => {
      const { data } = Stored.safeParse(JSON.parse(readFileSync(file, "utf8")));
      return data === undefined ? [] : [{ file, ...data }];
    })
    .filter((one) => one.judge.hash === judge?.hash && one.judge.name === judge.name)
    .filter((one) => one.judge.browser === (browser?.version ?? null))
    .toSorted((a, b) => b.checks - a.checks);
  if (best === undefined) return null;
  const { file, checks, falseYes, falseNo } = best;
  const plain = ({ rate, low, high }: typeof falseYes): typeof falseYes => ({ rate, low, high });
  return { file, checks, falseYes: plain(falseYes), falseNo: plain(falseNo) };
}

/** Where measured errors are looked for, and whether their effect is wanted. */
export interface JudgeErrorOptions {
  /** A file or a folder of calibrations; absent: none is known. */
  readonly calibration?: string | undefined;
  /** Whether to score again under the error. */
  readonly sensitivity: boolean;
}

/** Adds what is known of the judge's error to a source that a model judged; other sources stay as they are unless a place was named. */
export function withJudgeError(
  source: ScoredSource,
  { calibration: where, sensitivity }: JudgeErrorOptions,
): ScoredSource {
  const { run, observed } = source;
  const judge = run?.provenance.judge ?? null;
  if (run === null || judge === null || (judge.name === "oracle" && where === undefined)) return source;
  const calibration = where === undefined ? null : findCalibration(run, where);
  if (!sensitivity) return { ...source, judgeError: { calibration } };
  const effect = calibration === null || observed === undefined ? null : scoreSensitivity(observed, calibration);
  return { ...source, judgeError: { calibration, sensitivity: effect } };
}

const range = (values: readonly [number, number] | null): string =>
  values === null ? "n/a (the error leaves it open)" : values.map((value) => value.toFixed(2)).join(" to ");

/** What is known of the judge's error, one line each; none where no model judged. */
export function judgeErrorLines({ run, judgeError }: ScoredSource, where: string | undefined): readonly string[] {
  const judge = run?.provenance.judge ?? null;
  if (judgeError === undefined || judge === null) {
    return where === undefined || run === null ? [] : ["Calibration  none: the run has no judge"];
  }
  const { calibration, sensitivity } = judgeError;
  if (calibration === null) {
    return where === undefined
      ? [
          `Calibration  none named: how often judge ${judge.name} is wrong is not known here (evoweb calibrate, --calibration)`,
        ]
      : [`Calibration  none in ${where} for judge ${judge.name} with this browser`];
  }
  const { file, checks, falseYes, falseNo } = calibration;
  const known = `Calibration  ${file}: false YES ${percent(falseYes.rate)}, false NO ${percent(falseNo.rate)} over ${checks} checks`;
  if (sensitivity === undefined || sensitivity === null) return [known];
  const { grade, survival, draws, assumptions } = sensitivity;
  return [
    known,
    `Sensitivity  Grade ${range(grade)}, Survival ${range(survival)} (${draws} seeded draws at each end), if:`,
    ...assumptions.map((one) => `             - ${one}`),
  ];
}
