import type { ChatRequest } from "./chat.ts";
import type { Price } from "./prices.ts";

/** What a call may take, before it is made. */
export interface CallEstimate {
  /** What it surely takes. */
  readonly atLeast: Readonly<Record<"tokens" | "usd", number>>;
  /** What to reserve for it: a full-length answer and generous input. */
  readonly expected: Readonly<Record<"tokens" | "usd", number>>;
}

// English text has about four characters a token; long words and blanks at most ten, JSON and other scripts down to three.
const MOST_CHARS_PER_TOKEN = 10;
const FEW_CHARS_PER_TOKEN = 3;
// A 1024 x 768 image in high detail is 4 tiles of 170 tokens and 85 more.
const TOKENS_PER_IMAGE = 765;

/** Estimates a call from the length of its messages; an unknown price counts as 0, so it must not be combined with USD limits. */
export function estimateCall(request: ChatRequest, price: Price | null): CallEstimate {
  let [chars, images] = [0, 0];
  for (const { content } of request.messages) {
    for (const part of typeof content === "string" ? [{ type: "text" as const, text: content }] : content) {
      if (part.type === "text") chars += part.text.length;
      else images += 1;
    }
  }
  const { inputUsdPerMillion, outputUsdPerMillion } = price ?? { inputUsdPerMillion: 0, outputUsdPerMillion: 0 };
  const atLeast = Math.floor(chars / MOST_CHARS_PER_TOKEN);
  const input = Math.ceil(chars / FEW_CHARS_PER_TOKEN) + images * TOKENS_PER_IMAGE;
  return {
    atLeast: { tokens: atLeast, usd: (atLeast * inputUsdPerMillion) / 1e6 },
    expected: {
      tokens: input + request.maxTokens,
      usd: (input * inputUsdPerMillion + request.maxTokens * outputUsdPerMillion) / 1e6,
    },
  };
}
