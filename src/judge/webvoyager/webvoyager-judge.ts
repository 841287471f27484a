import { createHash } from "node:crypto";
import { scoreTranscript } from "../../dataset/webvoyager-transcript.ts";
import type { ChatModel } from "../../model/chat.ts";
import type { CheckResult, Evidence, Judge } from "../judge.ts";
import { Conversation, POINTS } from "./converse.ts";
import { PROMPTS } from "./messages.ts";
import { PAGE_SCRIPTS_HASH } from "./page-scripts.ts";
import { WebvoyagerRecord } from "./record.ts";

/** Raised with each change of what the model sees or of how its replies are followed, beyond prompts and page scripts. */
const PROTOCOL = "webvoyager-1";

/** How the published protocol is run. */
export interface WebvoyagerJudgeOptions {
  readonly model: ChatModel;
  /** Which rule gives the verdict; both are stored. Default `strict`. */
  readonly verdictRule?: "legacy" | "strict";
  /** Default 1, as published. */
  readonly temperature?: number;
  /** Default 42, as published. */
  readonly seed?: number;
}

type Rules = Readonly<Record<"legacy" | "strict", CheckResult["verdict"]>>;

/** What the strict rule says of a conversation without a verdict: whose doing it was. */
function missing({ fault }: Evidence): Omit<CheckResult, "verdict"> {
  if (fault === undefined) return { cause: "judge_error", class: "malformed_reply" };
  return { cause: fault.cause ?? "judge_error", class: fault.class };
}

/** The page did not open or did not answer: the app's doing, which no transcript can say. */
function unusable({ points }: Evidence): "no_answer" | "page_hung" | null {
  const unmet = points.find(({ met }) => !met);
  if (unmet === undefined) return null;
  return unmet.point === POINTS.opens ? "no_answer" : "page_hung";
}

function ruleOn(evidence: Evidence, verdictRule: keyof Rules): CheckResult {
  const record = WebvoyagerRecord.safeParse(evidence.record);
  if (!record.success) return { verdict: "MISSING", cause: "judge_error", class: "unreadable_record" };
  const { legacy, strict } = scoreTranscript(record.data.messages);
  const broken = unusable(evidence);
  // A conversation that broke off is unfinished even where its last reply reads like an answer.
  const decided = evidence.fault === undefined ? strict : "MISSING";
  const rules: Rules = { legacy, strict: broken === null ? decided : "NO" };
  const verdict = rules[verdictRule];
  // A limit of ours is nothing that the published rule knows of.
  if (verdict === "MISSING" || evidence.fault?.cause === "budget") {
    return { verdict: "MISSING", ...missing(evidence), rules };
  }
  return { verdict, cause: "judged", ...(verdict === "YES" ? {} : { class: broken ?? "wrong_behaviour" }), rules };
}

/**
 * The published WebGen-Bench/WebVoyager protocol: a model looks at pictures with numbered elements, acts at most 14 times and
 * gives its own verdict. docs/judges.md lists what is mended. The hash covers prompts, page scripts, model and parameters.
 */
export function createWebvoyagerJudge(options: WebvoyagerJudgeOptions): Judge {
  const { model, verdictRule = "strict", temperature = 1, seed = 42 } = options;
  const parts = [PROTOCOL, PROMPTS.hash, PAGE_SCRIPTS_HASH, model.fingerprint, verdictRule, temperature, seed];
  return {
    name: "webvoyager",
    hash: createHash("sha256").update(JSON.stringify(parts)).digest("hex"),
    timeoutMs: 10 * 60_000,
    viewport: { width: 1024, height: 768 },
    canJudge: () => true,
    observe: async (task, session) => new Conversation(task, session, { model, temperature, seed }).hold(),
    rule: ({ evidence }) => Promise.resolve(ruleOn(evidence, verdictRule)),
  };
}
