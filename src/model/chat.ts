import type { z } from "zod";

/** One piece of a message. */
export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly mediaType: "image/png" | "image/webp" | "image/jpeg";
      readonly bytes: Uint8Array;
    };

/** One message of a conversation. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly ChatPart[];
}

/** What a model is asked; everything here goes into the request hash of a cassette. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  /** Sent as given; absent: the endpoint's default. */
  readonly temperature?: number;
  readonly seed?: number;
  /** Asks for JSON of this shape, natively where the endpoint can, else in words; see `chatJson`. */
  readonly json?: { readonly name: string; readonly schema: z.ZodType };
}

/** Where a call belongs, for limits and the account of what was spent. */
export interface CallContext {
  /** What the call is for, such as "explore" or "verify". */
  readonly role: string;
  /** Sample index or row id of the app; limits per app and per check are kept by these two. */
  readonly app: string;
  /** The check within the app, such as "3.1", with whatever makes two judgements of it two accounts. */
  readonly check: string;
  /** Which judgement of the same question this is, such as "1.2"; tells apart equal requests in a cassette. */
  readonly sample: string;
  /** Overall limit of the call with its retries. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What calls took together. */
export interface ModelUsage {
  readonly calls: number;
  /** Tokens as the endpoint counted them; null as soon as one call did not say. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** US dollars; null when the price of the model or a count is unknown, never 0 for unknown. */
  readonly costUsd: number | null;
}

/** What a model answered. */
export interface ChatReply {
  readonly text: string;
  readonly finishReason: string;
  readonly usage: ModelUsage;
  /** Model id as the endpoint returned it. */
  readonly modelId: string;
  readonly durationMs: number;
}

/** A model behind an endpoint, with its limits and its account. */
export interface ChatModel {
  /** As asked for, such as "gpt-5-mini". */
  readonly name: string;
  /** Name, endpoint without secrets, and parameters: what tells two judges apart. */
  readonly fingerprint: string;
  /** Rejects with a `ModelError`, or with the signal's reason. Calls that can heal are tried again within the call's limit. */
  chat(request: ChatRequest, context: CallContext): Promise<ChatReply>;
}

/**
 * Why a call gave no usable answer, from status, code and finish reason alone. `rate_limit` heals in seconds, `quota` does not
 * within a run; `budget` is a limit of ours; `timeout` is the call's overall limit.
 */
export type ModelFailure =
  | "rate_limit"
  | "quota"
  | "auth"
  | "bad_request"
  | "context_overflow"
  | "length"
  | "refusal"
  | "malformed"
  | "server"
  | "network"
  | "timeout"
  | "budget"
  | "no_recording";

/** A limit of ours that a call ran into. */
export interface FiredLimit {
  readonly unit: "tokens" | "usd";
  readonly per: "check" | "app" | "run";
  readonly limit: number;
  /** What was spent when the call was refused. */
  readonly measured: number;
}

/** What is known of a failed call beside its class. */
export interface ModelErrorDetails extends ErrorOptions {
  readonly usage: ModelUsage;
  /** Replies that were of no use, oldest first; absent when there was none. */
  readonly replies?: readonly string[];
  /** Set for `budget`. */
  readonly limit?: FiredLimit;
}

/** A call that failed for good. */
export class ModelError extends Error {
  readonly failure: ModelFailure;
  /** What the failed call took, as far as is known; retries included. */
  readonly usage: ModelUsage;
  /** Replies that were of no use, oldest first; empty when there was none. */
  readonly replies: readonly string[];
  /** The limit that fired, for `budget`; null otherwise. */
  readonly limit: FiredLimit | null;

  constructor(failure: ModelFailure, message: string, details: ModelErrorDetails) {
    super(message, details);
    this.name = "ModelError";
    this.failure = failure;
    this.usage = details.usage;
    this.replies = details.replies ?? [];
    this.limit = details.limit ?? null;
  }
}
