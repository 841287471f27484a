import type { FiredLimit } from "../../trace/event.ts";
import type { ModelApi } from "./api.ts";

/** Tokens of one call as the endpoint counted them. */
export interface CallTokens {
  /** All input, the cached part included. */
  readonly inputTokens: number;
  /** The part of the input that came from a cache; 0 when the endpoint does not say. */
  readonly cachedInputTokens: number;
  /** All output, reasoning included. */
  readonly outputTokens: number;
  /** The part of the output that was reasoning; 0 when the endpoint does not say. */
  readonly reasoningTokens: number;
}

/** Why a call gave no usable answer, from the connection, the status and the error's code, never from its words. */
export interface CallError {
  readonly class: "budget" | "auth" | "rate_limit" | "bad_request" | "server" | "network" | "cut";
  /** Code or type as the endpoint or the system gave it. */
  readonly code: string | null;
}

/** One call through the gateway: a line of `llm-calls.jsonl`. */
export interface LlmCall {
  /** ISO 8601, when the call came. */
  readonly time: string;
  readonly request: number;
  readonly attempt: number;
  readonly api: ModelApi | null;
  /** As the agent asked for it, query included. */
  readonly path: string;
  /** HTTP status the agent got; null when it went away before. */
  readonly status: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly isStreamed: boolean;
  /** Model ids: asked for by the agent, and named by the endpoint in its answer. */
  readonly modelAsked: string | null;
  readonly modelReturned: string | null;
  /** Null when the endpoint did not say. */
  readonly usage: CallTokens | null;
  /** US dollars; null when usage or price are unknown. */
  readonly costUsd: number | null;
  /** From the call's arrival to the first byte of the answer, and to its end. */
  readonly firstByteMs: number | null;
  readonly latencyMs: number;
  /** Whether any piece of a completion came. */
  readonly hasOutput: boolean;
  /** "client_gone": the agent closed the connection, mostly because it was ended. */
  readonly end: "complete" | "client_gone" | "cut" | "refused";
  readonly error: CallError | null;
  /** The limit that refused it. */
  readonly limit?: FiredLimit;
  /** Hashes of the bodies, where bodies are kept. */
  readonly bodies?: { readonly request: string; readonly response: string };
}

/** The class of an answer that is no success; null for a success. */
export function errorOfStatus(status: number, code: string | null): CallError | null {
  if (status < 400) return null;
  if (status === 401 || status === 403) return { class: "auth", code };
  if (status === 429) return { class: "rate_limit", code };
  return { class: status >= 500 ? "server" : "bad_request", code };
}
