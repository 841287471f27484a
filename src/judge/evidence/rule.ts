import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatPart } from "../../model/chat.ts";
import type { CheckResult, PointResult, RuleTask } from "../judge.ts";
import type { Ask } from "./ask.ts";
import { EvidenceRecord, type KeyPoint } from "./record.ts";
import { endsBlank, refute, rulePoints, type Case, type RuledPoint } from "./rule-points.ts";
import { ruleColor } from "./style.ts";
import { majority, verdictOf, type Verdict } from "./verdict.ts";

/** A picture of the evidence as a part of a message; undefined when it is not there any more. */
export async function pictureOf(evidenceDir: string, file: string): Promise<ChatPart | undefined> {
  try {
    return { type: "image", mediaType: "image/webp", bytes: await readFile(join(evidenceDir, file)) };
  } catch {
    return undefined;
  }
}

function ruledByColor(record: EvidenceRecord): RuledPoint[] {
  return record.points.flatMap((point): RuledPoint[] => {
    const ruling = ruleColor(point, record.colors);
    return ruling === undefined ? [] : [{ id: point.id, ...ruling, isRejected: false }];
  });
}

interface Ballot {
  readonly verdict: Verdict;
  readonly points: readonly RuledPoint[];
}

const ballotOf = (settled: readonly RuledPoint[], ruled: readonly RuledPoint[], isBlankAtEnd: boolean): Ballot => {
  const points = [...settled, ...ruled];
  const verdict = verdictOf(points.map(({ status }) => status));
  // Nothing is met on a page that has come to nothing, whatever was quoted from before.
  return { verdict: verdict === "YES" && isBlankAtEnd ? "MISSING" : verdict, points };
};

/** The first ballot stands unless it is a YES that somebody can argue against; then three are counted. */
async function vote(own: Case, settled: readonly RuledPoint[]): Promise<Ballot> {
  const isBlankAtEnd = endsBlank(own.record);
  const cast = async (seed: number): Promise<Ballot> => ballotOf(settled, await rulePoints(own, seed), isBlankAtEnd);
  const first = await cast(0);
  if (first.verdict !== "YES") return first;
  if ((await refute(own)) === undefined) return first;
  const ballots = [first, await cast(1), await cast(2)];
  const verdict = majority(ballots.map((ballot) => ballot.verdict));
  return ballots.find((ballot) => ballot.verdict === verdict) ?? { verdict, points: first.points };
}

function resultOf({ verdict, points }: Ballot, keyPoints: readonly KeyPoint[]): CheckResult {
  const told = keyPoints.map(({ id, point }): PointResult => {
    const ruled = points.find((one) => one.id === id);
    return { point, met: ruled?.status === "met", saw: ruled?.saw.slice(0, 500) ?? "" };
  });
  if (verdict === "YES") return { verdict, cause: "judged", points: told };
  if (verdict !== "MISSING") return { verdict, cause: "judged", class: "wrong_behaviour", points: told };
  const isRejected = points.some((point) => point.isRejected) || points.every(({ status }) => status === "met");
  return { verdict, cause: "judge_error", class: isRejected ? "evidence_rejected" : "not_verifiable", points: told };
}

/** Rules on stored evidence, without a browser. Rejects with what `ask` rejects with. */
export async function ruleOnRecord(task: RuleTask, ask: Ask, hasVision: boolean): Promise<CheckResult> {
  const parsed = EvidenceRecord.safeParse(task.evidence.record);
  if (!parsed.success) return { verdict: "MISSING", cause: "judge_error", class: "unreadable_evidence" };
  const record = parsed.data;
  if (record.steps[0]?.isOk !== true) {
    const saw = record.steps[0]?.result ?? "nothing";
    return {
      verdict: "NO",
      cause: "judged",
      class: "http_error",
      points: [{ point: "the page opens", met: false, saw }],
    };
  }
  const settled = ruledByColor(record);
  const open = record.points.filter(({ id }) => !settled.some((one) => one.id === id));
  if (open.length === 0) return resultOf(ballotOf(settled, [], endsBlank(record)), record.points);
  const picture = async (file: string): Promise<ChatPart | undefined> => pictureOf(task.evidenceDir, file);
  const own: Case = { check: task.check, record, points: open, ask, hasVision, picture };
  return resultOf(await vote(own, settled), record.points);
}
