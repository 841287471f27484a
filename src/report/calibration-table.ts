import type { ErrorRate, JudgeErrors } from "../scoring/judge-errors.ts";
import { formatDuration } from "./format.ts";

/** What a table of a judge's error is printed from; the document of `evoweb calibrate`. */
export interface CalibrationSource extends JudgeErrors {
  readonly judge: {
    readonly name: string;
    readonly hash: string;
    readonly browser: string | null;
    readonly truth: string;
    readonly notAsked: number;
    readonly note?: string | undefined;
  };
  readonly groups: Readonly<Record<string, Readonly<Record<string, JudgeErrors>>>>;
  readonly wrong: readonly {
    readonly sampleIndex: number;
    readonly request: number;
    readonly check: number;
    readonly spec: string;
    readonly truth: string;
    readonly verdicts: readonly string[];
    readonly evidence: readonly string[];
  }[];
}

const percent = (value: number | null): string => (value === null ? "n/a" : `${(100 * value).toFixed(1)}%`);
const decimal = (value: number | null): string => (value === null ? "n/a" : value.toFixed(3));

/** A rate with its interval, such as "4.0% (1/25, 0.7%..19.5%)". */
function formatErrorRate({ count, of, rate, low, high }: ErrorRate): string {
  if (rate === null) return "n/a (0/0)";
  return `${percent(rate)} (${count}/${of}, ${percent(low)}..${percent(high)})`;
}

/** A judge's measured error for people; ends in a line feed. */
export function renderCalibration(source: CalibrationSource): string {
  const { judge, groups, wrong } = source;
  const blocks = [
    [
      `Judge ${judge.name} ${judge.hash.slice(0, 12)}, browser ${judge.browser ?? "unknown"}, truth from ${judge.truth}`,
      ...(judge.note === undefined ? [] : [judge.note]),
    ],
    confusionLines(source),
    [
      `False YES   ${formatErrorRate(source.falseYes)}`,
      `False NO    ${formatErrorRate(source.falseNo)}   (PARTIAL is not YES, on both sides)`,
      `Balanced accuracy ${percent(source.balancedAccuracy)}, Cohen's kappa ${decimal(source.kappa)}, flip rate ${percent(source.flipRate)}`,
      `Missing ${source.missing} of ${source.checks} checks; ${judge.notAsked} more were decided before the judge was asked`,
      `Cost ${source.costUsd === null ? "unknown" : `$${source.costUsd.toFixed(4)}`}, ${source.msPerCheck === null ? "n/a" : formatDuration(source.msPerCheck)} a check`,
    ],
    ...Object.entries(groups).map(([name, parts]) => groupLines(name, parts)),
    wrong.length === 0 ? ["No check was judged wrong."] : ["Judged wrong:", ...wrong.map(wrongLine)],
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const SAID = ["YES", "PARTIAL", "NO", "MISSING"] as const;

function confusionLines({ confusion }: JudgeErrors): string[] {
  const head = `truth \\ judge ${SAID.map((said) => said.padStart(8)).join("")}`;
  const lines = (["YES", "PARTIAL", "NO"] as const).map(
    (truth) => `${truth.padEnd(14)}${SAID.map((said) => String(confusion[truth][said]).padStart(8)).join("")}`,
  );
  return [head, ...lines];
}

function groupLines(name: string, parts: Readonly<Record<string, JudgeErrors>>): string[] {
  const width = Math.max(...Object.keys(parts).map((part) => part.length), name.length);
  return [
    `By ${name}`,
    ...Object.entries(parts).map(([part, { checks, falseYes, falseNo, missing }]) => {
      const numbers = `${String(checks).padStart(4)} checks  false YES ${formatErrorRate(falseYes)}  false NO ${formatErrorRate(falseNo)}`;
      return `  ${part.padEnd(width)} ${numbers}${missing === 0 ? "" : `  missing ${missing}`}`;
    }),
  ];
}

function wrongLine(one: CalibrationSource["wrong"][number]): string {
  const { sampleIndex, request, check, spec, truth, verdicts, evidence } = one;
  return `  app ${sampleIndex} ${spec} check ${request}.${check}: ${truth}, judged ${verdicts[0] ?? "MISSING"}  ${evidence[0] ?? ""}`;
}
