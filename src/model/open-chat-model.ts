import { EvowebError } from "../errors.ts";
import { endpointUrl } from "./base-url.ts";
import type { CallNote, Line, RetryOptions } from "./call-endpoint.ts";
import type { Cassette } from "./cassette.ts";
import type { ChatModel, ModelUsage } from "./chat.ts";
import { chatCall } from "./chat-call.ts";
import { createConcurrency, type ConcurrencyOptions, type LimitChange } from "./concurrency.ts";
import { openEndpoint } from "./endpoint.ts";
import { createLedger, type SpentBefore, type UsageLimits } from "./ledger.ts";
import { priceOf, type PriceTable } from "./prices.ts";
import { addUsage } from "./usage.ts";

/** Something a person may want to know about a model's calls. */
export type ModelNote = CallNote | ({ readonly type: "concurrency" } & LimitChange);

/** What a model is opened with. */
export interface ChatModelOptions {
  /** As the endpoint calls it. */
  readonly name: string;
  /** See `endpointUrl`; absent: OpenAI's. */
  readonly baseUrl?: string | undefined;
  /** Default empty, which local servers accept. */
  readonly apiKey?: string | undefined;
  /** Overrides the list prices. */
  readonly prices?: PriceTable | undefined;
  readonly limits?: UsageLimits | undefined;
  /** Counts against the limits; default: nothing. */
  readonly spentBefore?: readonly SpentBefore[] | undefined;
  /** Closed with the model. */
  readonly cassette?: Cassette | undefined;
  readonly retry?: RetryOptions | undefined;
  readonly concurrency?: ConcurrencyOptions | undefined;
  readonly listen?: ((note: ModelNote) => void) | undefined;
}

/** A model that can tell what was spent, and how many calls its endpoint bore. */
export interface OpenChatModel extends ChatModel, AsyncDisposable {
  /** Changes of how many calls may be under way at a time, oldest first. */
  readonly limitHistory: readonly LimitChange[];
  /** What was spent for each role (`CallContext.role`), failed calls included. */
  usageByRole(): Readonly<Record<string, ModelUsage>>;
  /** Throws `EvowebError("usage")` when the endpoint cannot be reached or refuses the key. */
  checkEndpoint(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/**
 * Opens a model; nothing is sent yet. Disposing stops the calls under way. Throws `EvowebError("usage")` for an address that is
 * none, and for limits in US dollars on a model without a known price.
 */
export function openChatModel(options: ChatModelOptions): OpenChatModel {
  const { name, prices, limits = {}, cassette, retry = {}, listen = () => {} } = options;
  const endpoint = openEndpoint(endpointUrl(options.baseUrl), options.apiKey ?? "");
  const price = priceOf(name, prices);
  if (price === null && [limits.usdPerCheck, limits.usdPerApp, limits.usd].some((usd) => usd !== undefined)) {
    throw new EvowebError(
      "usage",
      `the price of ${name} is unknown, so limits in US dollars cannot be kept; give it in --price-file, or limit tokens`,
    );
  }
  const concurrency = createConcurrency(options.concurrency ?? {}, (change) =>
    listen({ type: "concurrency", ...change }),
  );
  const dialect: Line["dialect"] = { tokensName: "max_tokens", json: "native", without: new Set() };
  const line: Line = { model: name, endpoint, dialect, concurrency, price, retry, listen };
  const closing = new AbortController();
  const byRole = new Map<string, ModelUsage>();

  const book = (role: string, usage: ModelUsage): void => {
    byRole.set(role, addUsage([byRole.get(role), usage]) ?? usage);
  };
  const desk = { line, ledger: createLedger(limits, options.spentBefore), cassette, closing: closing.signal, book };
  return {
    name,
    fingerprint: `${name} at ${endpoint.baseUrl}`,
    limitHistory: concurrency.history,
    usageByRole: () => Object.fromEntries(byRole),
    chat: (request, context) => chatCall(desk, request, context),
    async checkEndpoint(timeoutMs, signal) {
      const fault = await endpoint.probe({ timeoutMs, signal });
      if (fault === null) return;
      throw new EvowebError(
        "usage",
        `the model endpoint ${endpoint.baseUrl} ${fault.text}; check EVOWEB_JUDGE_BASE_URL and EVOWEB_JUDGE_API_KEY`,
      );
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new DOMException("the model was closed", "AbortError"));
      cassette?.[Symbol.dispose]();
    },
  };
}
