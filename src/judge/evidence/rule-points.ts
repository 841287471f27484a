import { z } from "zod";
import type { Check } from "../../dataset/row.ts";
import type { ChatMessage, ChatPart } from "../../model/chat.ts";
import { fillPrompt } from "../prompts.ts";
import type { Ask } from "./ask.ts";
import { isBlank, provePoint } from "./check-evidence.ts";
import { describePage, describeStep } from "./explore.ts";
import { fenceFor } from "./fence.ts";
import { prompts } from "./load-prompts.ts";
import type { EvidenceRecord, KeyPoint, Step } from "./record.ts";
import { changesBetween } from "./render-view.ts";
import type { PointStatus } from "./verdict.ts";

const MAX_CHANGE_LINES = 60;
const MAX_PICTURES = 3;

const Ruling = z.object({
  points: z.array(
    z.object({
      id: z.string(),
      status: z.enum(["met", "not_met", "not_verifiable"]),
      evidence: z
        .array(
          z.object({
            step: z.int(),
            kind: z.enum(["screenshot", "snapshot", "console", "network", "dialog", "download", "popup", "style"]),
            quote: z.string().default(""),
          }),
        )
        .default([]),
      reason: z.string().default(""),
    }),
  ),
});
const Refutation = z.object({
  points: z.array(
    z.object({
      id: z.string(),
      refuted: z.boolean(),
      error: z.enum(["none", "outcome", "bias", "perception", "modality", "focus"]),
      reason: z.string().default(""),
    }),
  ),
});

/** How a key point stands, and on what. */
export interface RuledPoint {
  readonly id: string;
  readonly status: PointStatus;
  readonly saw: string;
  /** True when the judge called it met and the cited evidence did not bear it out. */
  readonly isRejected: boolean;
}

/** What a ruling is made from; nothing of it is the explorer's opinion. */
export interface Case {
  readonly check: Check;
  readonly record: EvidenceRecord;
  /** The points that a model has to rule on. */
  readonly points: readonly KeyPoint[];
  readonly ask: Ask;
  readonly hasVision: boolean;
  picture(file: string): Promise<ChatPart | undefined>;
}

/** The record in words: the first page, what each step changed, and the last page in full. */
function describeRecord(steps: readonly Step[]): string {
  const parts = steps.map((step, index) => {
    const before = steps[index - 1];
    const isLast = index === steps.length - 1;
    if (before === undefined || isLast) return `${describeStep(step)}\n${describePage(step)}`;
    const changes = changesBetween(before.view, step.view);
    // The whole page again is shorter than a list of all that went and came.
    if (changes.join("\n").length > step.view.join("\n").length) return `${describeStep(step)}\n${describePage(step)}`;
    const left = changes.length > MAX_CHANGE_LINES ? [`(${changes.length - MAX_CHANGE_LINES} more changes)`] : [];
    const shown = changes.length === 0 ? ["(the text of the page did not change)"] : changes.slice(0, MAX_CHANGE_LINES);
    return `${describeStep(step)}\n${describePage({ ...step, view: [...shown, ...left] })}`;
  });
  return parts.join("\n\n");
}

/** The last picture, and for visual points those of the steps that the explorer named. */
function pictureFiles({ record, points }: Case): string[] {
  const named = points
    .filter(({ tag }) => tag === "visual")
    .flatMap(({ id }) => record.claims.find((claim) => claim.id === id)?.steps ?? []);
  const last = record.steps.at(-1);
  const needsLast = points.some(({ tag }) => tag === "visual") || last?.hasCanvas === true;
  const steps = [...(needsLast && last !== undefined ? [last] : []), ...named.map((at) => record.steps[at])];
  const files = steps.map((step) => step?.picture ?? null).filter((file) => file !== null);
  return [...new Set(files)].slice(0, MAX_PICTURES);
}

async function messagesFor(own: Case, system: "judge" | "verify", extra: string): Promise<ChatMessage[]> {
  const { check, record, points } = own;
  const shown = describeRecord(record.steps);
  const fence = fenceFor(shown, prompts.hash);
  const text = fillPrompt(prompts.texts.record, {
    task: check.task,
    expected: check.expectedResult,
    points: points.map(({ id, tag, point }) => `${id} (${tag}): ${point}`).join("\n"),
    extra,
    record: shown,
    fence,
  });
  const pictures = own.hasVision ? await Promise.all(pictureFiles(own).map(async (file) => own.picture(file))) : [];
  const parts = pictures.filter((part) => part !== undefined);
  return [
    { role: "system", content: fillPrompt(prompts.texts[system], { fence }) },
    { role: "user", content: parts.length === 0 ? text : [{ type: "text", text }, ...parts] },
  ];
}

type Answer = z.infer<typeof Ruling>["points"][number];

function rulePoint(point: KeyPoint, answer: Answer | undefined, steps: readonly Step[]): RuledPoint {
  const { id } = point;
  if (answer === undefined) return { id, status: "not_verifiable", saw: "the judge left it out", isRejected: false };
  if (answer.status !== "met") return { id, status: answer.status, saw: answer.reason, isRejected: false };
  const proof = provePoint(point, answer.evidence, steps);
  if (proof.isProven) return { id, status: "met", saw: proof.saw, isRejected: false };
  return { id, status: "not_verifiable", saw: `called met, but ${proof.why}`, isRejected: true };
}

/** Asks the judge about the points once, and once more about what it could not tell or did not prove. */
export async function rulePoints(own: Case, seed: number): Promise<RuledPoint[]> {
  const { points, record, ask } = own;
  const once = async (extra: string): Promise<RuledPoint[]> => {
    const messages = await messagesFor(own, "judge", extra);
    const answer = await ask({ role: "judge", name: "ruling", schema: Ruling, messages, seed });
    return points.map((point) =>
      rulePoint(
        point,
        answer.points.find(({ id }) => id === point.id),
        record.steps,
      ),
    );
  };
  const first = await once("");
  const open = first.filter(({ status }) => status === "not_verifiable");
  if (open.length === 0) return first;
  const why = open.map(({ id, saw }) => `- ${id}: ${saw}`).join("\n");
  return once(`\nAn earlier assessment of these points could not be used:\n${why}\nLook again.\n`);
}

/** Asks for reasons against points that are all called met; gives the first one, or undefined when none was found. */
export async function refute(own: Case): Promise<string | undefined> {
  const messages = await messagesFor(own, "verify", "");
  const answer = await own.ask({ role: "verify", name: "refutation", schema: Refutation, messages });
  const against = answer.points.find(({ id, refuted }) => refuted && own.points.some((point) => point.id === id));
  return against === undefined ? undefined : `${against.id} (${against.error}): ${against.reason}`;
}

/** Whether the app had come to nothing when exploring ended. */
export const endsBlank = ({ steps }: EvidenceRecord): boolean => isBlank(steps.at(-1));
