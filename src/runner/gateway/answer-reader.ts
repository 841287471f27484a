import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import type { CallTokens } from "./llm-call.ts";

const count = z
  .number()
  .min(0)
  .nullish()
  .transform((value) => value ?? 0);
const cached = z.object({ cached_tokens: count }).nullish();
const reasoning = z.object({ reasoning_tokens: count }).nullish();
/** Usage in the words of all three APIs; of each pair only one is there. */
const RawUsage = z
  .object({
    prompt_tokens: count,
    input_tokens: count,
    completion_tokens: count,
    output_tokens: count,
    prompt_tokens_details: cached,
    input_tokens_details: cached,
    completion_tokens_details: reasoning,
    output_tokens_details: reasoning,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
  .transform((raw): CallTokens => {
    const { prompt_tokens_details: promptDetails = raw.input_tokens_details } = raw;
    const { completion_tokens_details: outputDetails = raw.output_tokens_details } = raw;
    const fromCache = raw.cache_read_input_tokens;
    return {
      // Anthropic's input leaves out what came from or went into the cache.
      inputTokens: raw.prompt_tokens + raw.input_tokens + fromCache + raw.cache_creation_input_tokens,
      cachedInputTokens: fromCache + (promptDetails?.cached_tokens ?? 0),
      outputTokens: raw.completion_tokens + raw.output_tokens,
      reasoningTokens: outputDetails?.reasoning_tokens ?? 0,
    };
  });

const Said = z.object({ model: z.string().nullish(), usage: z.record(z.string(), z.unknown()).nullish() });
const Delta = z.looseObject({});
/** An answer, or one event of a streamed one, as far as it is looked at. */
const Piece = Said.extend({
  type: z.string().nullish(),
  response: Said.nullish(),
  message: Said.nullish(),
  choices: z.array(z.object({ delta: Delta.nullish(), message: Delta.nullish() })).nullish(),
  output: z.array(z.unknown()).nullish(),
  content: z.array(z.unknown()).nullish(),
  error: z
    .object({ code: z.unknown().optional(), type: z.unknown().optional() })
    .nullish()
    .catch({ code: null, type: null }),
});

// An answer that is no stream is read whole; beyond this nothing can be said about it.
const MAX_TEXT_CHARS = 64 * 1024 * 1024;
// A tool call may come as a whole item, without deltas.
const OUTPUT_EVENT = /(?:^content_block_(?:start|delta)|^response\.output_item\.(?:added|done)|\.delta)$/u;
const WORDLESS = new Set(["role", "refusal"]);

/** Reads model, usage and errors from an answer while it passes by. */
export class AnswerReader {
  readonly #isStream: boolean;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #raw: Record<string, unknown> | null = null;
  /** Model id as the endpoint returned it. */
  model: string | null = null;
  /** Code (or else type) of an error in the answer. */
  errorCode: string | null = null;
  /** Whether any piece of a completion was in it. */
  hasOutput = false;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  push(bytes: Uint8Array): void {
    if (this.#rest.length > MAX_TEXT_CHARS) return;
    this.#rest += this.#decoder.write(bytes);
    if (!this.#isStream) return;
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#hearLine(line);
  }

  end(): void {
    if (this.#isStream) this.#hearLine(this.#rest);
    else this.#hear(this.#rest);
    this.#rest = "";
  }

  /** Null when the answer does not say. */
  get usage(): CallTokens | null {
    return this.#raw === null ? null : (RawUsage.safeParse(this.#raw).data ?? null);
  }

  #hearLine(line: string): void {
    if (line.startsWith("data:")) this.#hear(line.slice("data:".length));
  }

  #hear(text: string): void {
    const piece = pieceOf(text);
    if (piece === null) return;
    for (const said of [piece, piece.response, piece.message]) {
      this.model = said?.model ?? this.model;
      // A later event repeats or completes what an earlier one said.
      if (said?.usage) this.#raw = { ...this.#raw, ...withoutNulls(said.usage) };
    }
    this.hasOutput ||= isOutput(piece);
    if (piece.error) this.errorCode = codeOf(piece.error);
  }
}

function pieceOf(text: string): z.infer<typeof Piece> | null {
  try {
    return Piece.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const withoutNulls = (usage: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined && value !== null));

function codeOf({ code, type }: { code?: unknown; type?: unknown }): string {
  const given = code ?? type;
  return typeof given === "string" || typeof given === "number" ? String(given) : "error";
}

function isOutput(piece: z.infer<typeof Piece>): boolean {
  if (OUTPUT_EVENT.test(piece.type ?? "")) return true;
  if ((piece.output ?? []).length > 0 || (piece.content ?? []).length > 0) return true;
  const says = (delta: Record<string, unknown> | null | undefined): boolean =>
    Object.entries(delta ?? {}).some(([name, value]) => !WORDLESS.has(name) && isSomething(value));
  return (piece.choices ?? []).some(({ delta, message }) => says(delta) || says(message));
}

const isSomething = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
