import type { ModelError, ModelFailure } from "../model/chat.ts";
import type { JudgeFault } from "./judge.ts";

type Cause = NonNullable<JudgeFault["cause"]>;

const FAULTS: Readonly<Record<ModelFailure, readonly [cause: Cause, faultClass: string]>> = {
  rate_limit: ["infra", "model_rate_limit"],
  quota: ["infra", "model_quota"],
  auth: ["infra", "model_auth"],
  server: ["infra", "model_server"],
  network: ["infra", "model_network"],
  timeout: ["infra", "model_timeout"],
  no_recording: ["infra", "no_recording"],
  budget: ["budget", "model_budget"],
  bad_request: ["judge_error", "model_bad_request"],
  context_overflow: ["judge_error", "context_overflow"],
  length: ["judge_error", "reply_cut"],
  refusal: ["judge_error", "refusal"],
  malformed: ["judge_error", "malformed_reply"],
};

/** What a failed call means for the judgement that needed it; the check is then MISSING. */
export function faultOf({ failure, message, limit }: ModelError): Required<JudgeFault> {
  const [cause, faultClass] = FAULTS[failure];
  const text = message.slice(0, 500);
  return { cause, class: limit === null ? faultClass : `${faultClass}_${limit.unit}_per_${limit.per}`, text };
}
