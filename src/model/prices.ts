import { readFileSync } from "node:fs";
import { z } from "zod";
import { EvowebError, messageOf } from "../errors.ts";

/** What a model costs. Discounts (cached input, batches) are left out, so a cost is never too low. */
export const Price = z.strictObject({
  /** US dollars per million input tokens. */
  inputUsdPerMillion: z.number().min(0),
  /** US dollars per million output tokens. */
  outputUsdPerMillion: z.number().min(0),
});
export type Price = z.infer<typeof Price>;

/** Prices by the name under which a model is asked for. */
export type PriceTable = Readonly<Record<string, Price>>;

const price = (inputUsdPerMillion: number, outputUsdPerMillion: number): Price => ({
  inputUsdPerMillion,
  outputUsdPerMillion,
});

// OpenAI's public list prices for text tokens (openai.com/api/pricing), standard tier, as of August 2025. A price file overrides
// each of them; a model that is not here has no known price.
const LIST_PRICES: PriceTable = {
  "gpt-4o": price(2.5, 10),
  "gpt-4o-2024-05-13": price(5, 15),
  "gpt-4o-mini": price(0.15, 0.6),
  "gpt-4.1": price(2, 8),
  "gpt-4.1-mini": price(0.4, 1.6),
  "gpt-4.1-nano": price(0.1, 0.4),
  "o4-mini": price(1.1, 4.4),
  "gpt-5": price(1.25, 10),
  "gpt-5-mini": price(0.25, 2),
  "gpt-5-nano": price(0.05, 0.4),
};

/** The price of a model: from the given table, else the list price of the name or of the name without its date; null when unknown. */
export function priceOf(model: string, given: PriceTable = {}): Price | null {
  const table: PriceTable = { ...LIST_PRICES, ...given };
  return table[model] ?? table[model.replace(/-\d{4}-\d{2}-\d{2}$/u, "")] ?? null;
}

/**
 * Reads a price file: `{"my-model": {"inputUsdPerMillion": 0.5, "outputUsdPerMillion": 2}}`. Throws `EvowebError("usage")` for one
 * that cannot be read or says something else.
 */
export function readPriceFile(path: string): PriceTable {
  try {
    return z.record(z.string(), Price).parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new EvowebError("usage", `the price file ${path} cannot be used: ${reason}`, { cause: error });
  }
}
