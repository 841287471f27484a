import { setTimeout as wait } from "node:timers/promises";
import type { ChatRequest, ModelUsage } from "./chat.ts";
import { ModelError } from "./chat.ts";
import type { Completion } from "./completion.ts";
import type { Concurrency } from "./concurrency.ts";
import { isFault, type Endpoint } from "./endpoint.ts";
import type { TryFault } from "./failure.ts";
import type { Price } from "./prices.ts";
import { requestBody, type Dialect } from "./request-body.ts";

/** How failed tries are repeated. */
export interface RetryOptions {
  /** Further tries after the first. Default 5. */
  readonly retries?: number;
  /** Doubles with each try. Default 500 ms. */
  readonly firstWaitMs?: number;
  /** Longest wait; an endpoint that asks for a longer one has failed for good. Default 60 s. */
  readonly maxWaitMs?: number;
}

/** Something a person may want to know about how an endpoint is dealt with. */
export type CallNote =
  | { readonly type: "retry"; readonly failure: TryFault["failure"]; readonly text: string; readonly waitMs: number }
  /** The endpoint refused a parameter; it is asked without it from now on. */
  | { readonly type: "adapted"; readonly parameter: "response_format" | "max_tokens" | "temperature" | "seed" };

/** What all calls of one model share. */
export interface Line {
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly dialect: Dialect;
  readonly concurrency: Concurrency;
  readonly price: Price | null;
  readonly retry: RetryOptions;
  readonly listen: (note: CallNote) => void;
}

/** One call's bounds. */
export interface CallLimits {
  /** When the call has to be over, on the clock of `performance.now`. */
  readonly deadlineMs: number;
  /** Fires at that time too. */
  readonly signal: AbortSignal;
}

/** Counts the tries of one call, so that a call which fails or is stopped can still say what it took. */
export interface Tally {
  readonly tries: { readonly inputTokens: number | null; readonly outputTokens: number | null }[];
}

// The signal ends a call at its limit. The library's own timer must not fire first: it would look like a network that failed.
const SIGNAL_FIRST_MS = 60_000;

/** Calls until there is a completion, nothing can heal, or the tries are used up. Rejects with a `ModelError` or the signal's reason. */
export async function callEndpoint(line: Line, request: ChatRequest, limits: CallLimits & Tally): Promise<Completion> {
  const { signal, deadlineMs, tries } = limits;
  const dialect: Dialect = { ...line.dialect };
  const release = await line.concurrency.acquire(signal);
  try {
    for (let failures = 0; ;) {
      const body = requestBody(line.model, request, dialect);
      const open = { inputTokens: null, outputTokens: null };
      // A try that is stopped may have been charged.
      const at = tries.push(open) - 1;
      const outcome = await line.endpoint.send(body, {
        signal,
        timeoutMs: Math.max(0, deadlineMs - performance.now()) + SIGNAL_FIRST_MS,
      });
      if (!isFault(outcome)) {
        tries[at] = outcome;
        line.concurrency.wentWell();
        remember(line, dialect);
        return outcome;
      }
      if (outcome.isFree) tries[at] = { inputTokens: 0, outputTokens: 0 };
      if (adapt(dialect, outcome, request)) continue;
      if (outcome.failure === "rate_limit") line.concurrency.wasLimited();
      failures += 1;
      await beforeNextTry(line, outcome, { failures, deadlineMs, signal, tries });
    }
  } finally {
    release();
  }
}

/** What the tries of a call took together; a price is needed only where tokens were used. */
export function usageOf(tries: Tally["tries"], price: Price | null): ModelUsage {
  const sum = (name: "inputTokens" | "outputTokens"): number | null =>
    tries.some((one) => one[name] === null) ? null : tries.reduce((total, one) => total + (one[name] ?? 0), 0);
  const [inputTokens, outputTokens] = [sum("inputTokens"), sum("outputTokens")];
  return { calls: tries.length, inputTokens, outputTokens, costUsd: costOf(inputTokens, outputTokens, price) };
}

/** US dollars for these counts; null when a count or the price is unknown. */
export function costOf(inputTokens: number | null, outputTokens: number | null, price: Price | null): number | null {
  if (inputTokens === null || outputTokens === null) return null;
  if (inputTokens + outputTokens === 0) return 0;
  return price === null
    ? null
    : (inputTokens * price.inputUsdPerMillion + outputTokens * price.outputUsdPerMillion) / 1e6;
}

type Attempt = CallLimits & Tally & { readonly failures: number };

async function beforeNextTry(
  { retry, price, listen, endpoint }: Line,
  fault: TryFault,
  attempt: Attempt,
): Promise<void> {
  const { retries = 5, firstWaitMs = 500, maxWaitMs = 60_000 } = retry;
  const { failures, deadlineMs, signal, tries } = attempt;
  const fail = (why: string): ModelError =>
    new ModelError(fault.failure, `${endpoint.baseUrl} ${fault.text}${why}`, { usage: usageOf(tries, price) });
  if (!fault.heals) throw fail("");
  if (failures > retries) throw fail(`; ${failures} tries`);
  const backOffMs = Math.min(maxWaitMs, firstWaitMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 4);
  const waitMs = Math.max(fault.retryAfterMs ?? 0, backOffMs);
  if (waitMs > maxWaitMs)
    throw fail(`; it asks to wait ${Math.round(waitMs / 1000)} s, longer than the limit of a wait`);
  if (performance.now() + waitMs >= deadlineMs) throw fail(`; no time left for another try after ${failures}`);
  listen({ type: "retry", failure: fault.failure, text: fault.text, waitMs: Math.round(waitMs) });
  await wait(waitMs, undefined, { signal });
}

// Decided by the status and the name of the refused parameter. An endpoint that names none may have choked on the schema, so it
// is asked once in words; whether that was the reason shows in the next answer.
function adapt(dialect: Dialect, { failure, param }: TryFault, request: ChatRequest): boolean {
  if (failure !== "bad_request") return false;
  if (param === "max_tokens") {
    const isNew = dialect.tokensName === "max_tokens";
    dialect.tokensName = "max_completion_tokens";
    return isNew;
  }
  if (param === "temperature" || param === "seed") {
    const isNew = request[param] !== undefined && !dialect.without.has(param);
    dialect.without = new Set([...dialect.without, param]);
    return isNew;
  }
  const mayBeSchema = param === null || param.startsWith("response_format");
  if (!mayBeSchema || request.json === undefined || dialect.json === "words") return false;
  dialect.json = "words";
  return true;
}

function remember({ dialect, listen }: Line, used: Dialect): void {
  const adapted = (parameter: Extract<CallNote, { type: "adapted" }>["parameter"]): void =>
    listen({ type: "adapted", parameter });
  // Only ever away from the first dialect: a call that began earlier must not undo what another has learnt.
  if (used.json === "words" && dialect.json === "native") {
    dialect.json = "words";
    adapted("response_format");
  }
  if (used.tokensName === "max_completion_tokens" && dialect.tokensName === "max_tokens") {
    dialect.tokensName = "max_completion_tokens";
    adapted("max_tokens");
  }
  for (const name of used.without) {
    if (dialect.without.has(name)) continue;
    dialect.without = new Set([...dialect.without, name]);
    adapted(name);
  }
}
