import type { FiredLimit } from "../trace/event.ts";
import type { RequestAccount } from "./gateway/gateway.ts";
import type { CallError } from "./gateway/llm-call.ts";
import type { ProcessEnd } from "./sandbox.ts";

/** How an agent's work on one request ended. */
export type Outcome =
  | "answered"
  | "empty"
  | "step_limit"
  | "cost_limit"
  | "timeout"
  | "provider_error"
  | "context_overflow"
  | "permission_denied"
  | "format_error"
  | "crashed";

/** Where an outcome stands in the trace: "completed", or a class of `FAILURE_CLASSES`. */
const STATUS: Readonly<Record<Outcome, string>> = {
  answered: "completed",
  empty: "no_response",
  step_limit: "step_limit",
  cost_limit: "cost_limit",
  timeout: "time_limit",
  provider_error: "model_api",
  context_overflow: "crashed",
  permission_denied: "refused",
  format_error: "crashed",
  crashed: "crashed",
};

/** What is known of how a turn ended. */
export interface Ending {
  /** What the agent's own event stream says; null when it says nothing. */
  readonly reported: Outcome | null;
  /** Null when calls did not pass the gateway. */
  readonly account: RequestAccount | null;
  readonly exitCode: number | null;
  readonly how: ProcessEnd["how"];
  readonly finalText: string | null;
  /** Tool calls as far as the agent's output tells; null when it does not. */
  readonly toolCalls: number | null;
}

/** The class of an outcome in the trace, and whether the model answered at all. */
export interface Classified {
  readonly outcome: Outcome;
  readonly status: string;
  readonly responded: boolean | null;
  readonly limit?: FiredLimit;
}

const OVERFLOW_CODES: ReadonlySet<string> = new Set(["context_length_exceeded", "request_too_large"]);
const INFRA: ReadonlySet<CallError["class"]> = new Set(["auth", "rate_limit", "server", "network", "cut"]);

/**
 * Says how a turn ended from structured evidence alone: limits that fired, the agent's own event stream, the gateway's
 * record of the last call, and the exit code last, as many agents leave with 0 whatever happened.
 */
export function classifyEnding(ending: Ending): Classified {
  const { account } = ending;
  const limit = account?.limit ?? null;
  const outcome = limit === null || ending.how === "timed_out" ? outcomeOf(ending) : limitOutcome(limit);
  return {
    outcome,
    status: STATUS[outcome],
    responded: account === null ? null : account.answered > 0,
    ...(limit === null || outcome === "timeout" ? {} : { limit }),
  };
}

const limitOutcome = ({ clock }: FiredLimit): Outcome => (clock === "llm_calls" ? "step_limit" : "cost_limit");

function outcomeOf(ending: Ending): Outcome {
  const { reported, account, exitCode, how } = ending;
  if (how === "timed_out") return "timeout";
  if (how === "out_of_memory") return "crashed";
  const fault = faultOf(reported, exitCode);
  // An error that the agent recovered from is followed by a good call, and then there is no last error.
  const provider = account?.lastError ?? null;
  const hasNoAnswer = account !== null && account.answered === 0;
  if (provider !== null && (fault !== null || hasNoAnswer)) return providerOutcome(provider);
  if (fault !== null) return fault;
  return hasWorked(ending) ? "answered" : "empty";
}

/** What went wrong by the agent's own account, or else by its exit code. */
function faultOf(reported: Outcome | null, exitCode: number | null): Outcome | null {
  if (reported !== null && reported !== "answered" && reported !== "empty") return reported;
  return exitCode === 0 ? null : "crashed";
}

const hasWorked = ({ finalText, toolCalls }: Ending): boolean =>
  (finalText ?? "").trim() !== "" || (toolCalls ?? 0) > 0;

function providerOutcome({ class: name, code }: CallError): Outcome {
  if (INFRA.has(name)) return "provider_error";
  return OVERFLOW_CODES.has(code ?? "") ? "context_overflow" : "crashed";
}
