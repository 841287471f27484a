import { join } from "node:path";
import { z } from "zod";
import type { SampledRow } from "../dataset/row.ts";
import { EvowebError } from "../errors.ts";
import type { TrueVerdict } from "../scoring/judge-errors.ts";
import { readFileText, readJsonLines } from "../trace/jsonl.ts";
import { appDirName, readRunPlan } from "../trace/run-folder.ts";
import { openSource, sourceEvents } from "./rejudge/open-source.ts";
import { readSourceRequests } from "./rejudge/source-requests.ts";
import { toAnswer } from "./calibrate/ask.ts";
import { calibrationOf, wasAsked, type Answer, type Calibration } from "./calibrate/calibration.ts";

/** What a person said of one check. */
interface Label {
  readonly sampleIndex: number;
  /** 1-based. */
  readonly request: number;
  /** 0-based. */
  readonly check: number;
  readonly verdict: TrueVerdict;
}

const Verdict = z.enum(["YES", "PARTIAL", "NO"]);
const Own = z.object({
  sampleIndex: z.int().min(1),
  request: z.int().min(1),
  check: z.int().min(0),
  verdict: Verdict,
});
const Annotated = z.object({ index: z.int().min(0), annotations: z.array(Verdict.nullable()) });

/**
 * Reads labels: one `{sampleIndex, request, check, verdict}` a line, or lines of WebGen-Bench's annotation tool, whose `index` is the
 * 0-based position of the app and whose `annotations` follow the app's checks over all requests; null is no label. A later line wins.
 *
 * @throws EvowebError `usage` for a line that is neither or is about a check that the rows do not have.
 */
export function parseLabels(text: string, name: string, rows: readonly SampledRow[]): readonly Label[] {
  const labels = new Map<string, Label>();
  const notes = readJsonLines({ text, isDamaged: false }, ({ value, line }) => {
    for (const label of labelsOf(value, rows, `${name} line ${line}`)) {
      labels.set(`${label.sampleIndex} ${label.request} ${label.check}`, label);
    }
  });
  const bad = notes.badLines[0]?.line ?? notes.tornLine;
  if (bad !== null) throw new EvowebError("usage", `${name} line ${bad} is no JSON object`);
  return [...labels.values()];
}

function labelsOf(value: unknown, rows: readonly SampledRow[], where: string): readonly Label[] {
  const own = Own.safeParse(value);
  if (own.success) return [requireCheck(own.data, rows, where)];
  const annotated = Annotated.safeParse(value);
  if (!annotated.success) {
    throw new EvowebError(
      "usage",
      `${where} is no label: write {"sampleIndex":1,"request":1,"check":0,"verdict":"YES"}, or {"index":0,"annotations":["YES",null]}`,
    );
  }
  const { index, annotations } = annotated.data;
  const places = placesOf(rows, index + 1, where);
  if (annotations.length > places.length) {
    throw new EvowebError(
      "usage",
      `${where}: ${annotations.length} annotations, and app ${index + 1} has ${places.length} checks`,
    );
  }
  return annotations.flatMap((verdict, position) => {
    const place = places[position];
    return verdict === null || place === undefined ? [] : [{ sampleIndex: index + 1, ...place, verdict }];
  });
}

function placesOf(rows: readonly SampledRow[], sampleIndex: number, where: string) {
  const row = rows.find((sampled) => sampled.sampleIndex === sampleIndex)?.row;
  if (row === undefined) throw new EvowebError("usage", `${where}: the run has no app ${sampleIndex}`);
  return row.requests.flatMap(({ number, checks }) => checks.map((_, check) => ({ request: number, check })));
}

function requireCheck(label: Label, rows: readonly SampledRow[], where: string): Label {
  const places = placesOf(rows, label.sampleIndex, where);
  if (places.some(({ request, check }) => request === label.request && check === label.check)) return label;
  throw new EvowebError("usage", `${where}: app ${label.sampleIndex} has no check ${label.request}.${label.check}`);
}

/** Measures the verdicts of a run against people's labels; a labelled check that the run did not judge is MISSING. */
export function calibrateOnLabels(labelsPath: string, runDir: string): Calibration {
  const { run, rows } = readRunPlan(runDir);
  const { judge, browser } = run.provenance;
  if (judge === null) throw new EvowebError("usage", `${runDir} has no judge whose verdicts could be compared`);
  const labels = parseLabels(readFileText(labelsPath).text, labelsPath, rows);
  const source = openSource(runDir);
  let notAsked = 0;
  const answers = rows.flatMap(({ sampleIndex, row }): Answer[] => {
    const requests = readSourceRequests(row, sourceEvents(source, sampleIndex));
    return labels
      .filter((label) => label.sampleIndex === sampleIndex)
      .flatMap(({ request, check, verdict: truth }) => {
        const planned = row.requests[request - 1];
        const judged = requests.find((one) => one.request.number === request)?.verdicts.get(check);
        if (judged !== undefined && !wasAsked(judged)) {
          notAsked += 1;
          return [];
        }
        const role = planned?.checks[check]?.role ?? "functional";
        const archetype = planned?.archetype ?? null;
        const known = { sampleIndex, request, check, role, archetype, kind: "human", spec: "run", truth };
        const answer = toAnswer(known, judged === undefined ? [] : [judged], join(runDir, appDirName(sampleIndex)));
        return [judged === undefined ? { ...answer, verdicts: ["MISSING"] } : answer];
      });
  });
  const { name, hash } = judge;
  const about = { name, hash, browser: browser?.version ?? null, truth: "labels", time: new Date().toISOString() };
  return calibrationOf({ ...about, notAsked, labels: labelsPath, run: runDir }, answers);
}
