import type { ModelFailure } from "./chat.ts";

/** Why one try failed, from what a program can read; the endpoint's own words are only quoted. */
export interface TryFault {
  readonly failure: ModelFailure;
  readonly text: string;
  /** Whether the same request may succeed later. */
  readonly heals: boolean;
  /** How long the endpoint asks to wait; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** Whether the endpoint surely did not work on the request, so that nothing was charged. */
  readonly isFree: boolean;
  /** Name of the parameter that the endpoint refused; null when it names none. */
  readonly param: string | null;
}

/** What an endpoint said about a request that it refused. */
export interface Refused {
  /** HTTP status, or the number that a gateway put into its answer. */
  readonly status: number;
  readonly codes: readonly string[];
  readonly param: string | null;
  readonly words: string;
  readonly retryAfterMs: number | null;
}

const BY_CODE: Readonly<Record<string, ModelFailure>> = {
  insufficient_quota: "quota",
  billing_hard_limit_reached: "quota",
  billing_not_active: "quota",
  context_length_exceeded: "context_overflow",
  // llama.cpp's server
  exceed_context_size_error: "context_overflow",
  content_filter: "refusal",
  content_policy_violation: "refusal",
  invalid_api_key: "auth",
  rate_limit_exceeded: "rate_limit",
};
const BY_STATUS: Readonly<Record<number, ModelFailure>> = {
  401: "auth",
  402: "quota",
  403: "auth",
  408: "server",
  409: "server",
  413: "context_overflow",
  429: "rate_limit",
};
const HEALS: ReadonlySet<ModelFailure> = new Set(["rate_limit", "server", "network"]);
// A wait this long is a quota of the hour or day; a burst limit heals in seconds.
const QUOTA_WAIT_MS = 10 * 60_000;

/** The class of a refusal, from status, code and `Retry-After`. */
export function classify(refused: Refused): TryFault {
  const { status, retryAfterMs, param, words } = refused;
  const named = refused.codes.map((code) => BY_CODE[code]).find((failure) => failure !== undefined);
  const byStatus = named ?? BY_STATUS[status] ?? (status >= 500 ? "server" : "bad_request");
  const failure =
    byStatus === "rate_limit" && retryAfterMs !== null && retryAfterMs > QUOTA_WAIT_MS ? "quota" : byStatus;
  const codes = refused.codes.length === 0 ? "" : ` (${refused.codes.join(", ")})`;
  return {
    failure,
    text: `answered ${status}${codes}: ${words === "" ? "no words" : quote(words)}`,
    heals: HEALS.has(failure),
    retryAfterMs,
    isFree: true,
    param,
  };
}

/** A fault of an answer that came with a good status; whether it was charged is unknown. */
export function badAnswer(text: string): TryFault {
  return { failure: "server", text, heals: true, retryAfterMs: null, isFree: false, param: null };
}

/** Foreign text, short enough for one line of a message. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return line.length <= 300 ? line : `${line.slice(0, 300)}...`;
}
