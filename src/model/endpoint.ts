// One HTTP exchange with an OpenAI-compatible endpoint; the only importer of openai. Trying again is the caller's, because each
// failed try has to be counted.
import OpenAI, { APIConnectionError, APIError } from "openai";
import { messageOf } from "../errors.ts";
import { readCompletion, type Completion } from "./completion.ts";
import { badAnswer, classify, quote, type TryFault } from "./failure.ts";

/** An address and an account there. */
export interface Endpoint {
  /** As `endpointUrl` gives it. */
  readonly baseUrl: string;
  /** One try. Rejects only with the signal's reason. */
  send(body: Readonly<Record<string, unknown>>, limits: SendLimits): Promise<Completion | TryFault>;
  /** Asks for the list of models, to see whether the address and the key are good; null when nothing speaks against them. */
  probe(limits: SendLimits): Promise<TryFault | null>;
}

/** How long one exchange may take. */
interface SendLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Whether a try failed. */
export function isFault(outcome: Completion | TryFault): outcome is TryFault {
  return "failure" in outcome;
}

/** An endpoint; nothing is sent yet. An empty key is sent as "none", which local servers accept. */
export function openEndpoint(baseUrl: string, apiKey: string): Endpoint {
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey === "" ? "none" : apiKey,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
  });
  const exchange = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | TryFault> => {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      return faultOfThrown(error, baseUrl);
    }
  };
  return {
    baseUrl,
    send: (body, { timeoutMs, signal }) =>
      exchange(
        async () =>
          readCompletion(
            await client.post<unknown>("/chat/completions", { body, signal, timeout: Math.ceil(timeoutMs) }),
          ),
        signal,
      ),
    probe: async ({ timeoutMs, signal }) => {
      const fault = await exchange(async () => {
        await client.get<unknown>("/models", { signal, timeout: Math.ceil(timeoutMs) });
        return null;
      }, signal);
      // Some servers have no list of models; only an unreachable address and a refused key are sure to stop every call.
      return fault !== null && (fault.failure === "auth" || fault.failure === "network") ? fault : null;
    },
  };
}

function faultOfThrown(error: unknown, baseUrl: string): TryFault {
  if (error instanceof APIConnectionError) {
    const code = causeCode(error);
    return {
      ...badAnswer(`could not be reached (${code ?? quote(messageOf(error))})`),
      failure: "network",
      isFree: code !== null && NOT_CONNECTED.has(code),
    };
  }
  if (error instanceof APIError && typeof error.status === "number") return faultOfStatus(error, error.status, baseUrl);
  // The body broke off or was no JSON after a good status.
  const code = causeCode(error);
  if (code !== null) return { ...badAnswer(`cut its answer off (${code})`), failure: "network" };
  return badAnswer(`answered 200 with a body that cannot be read: ${quote(messageOf(error))}`);
}

function faultOfStatus(error: APIError, status: number, baseUrl: string): TryFault {
  const codes = [error.code, error.type].filter((code) => typeof code === "string");
  const fault = classify({
    status,
    codes: [...new Set(codes)],
    param: typeof error.param === "string" ? error.param : null,
    words: error.message.replace(/^\d+ /u, ""),
    retryAfterMs: retryAfterMs(error.headers),
  });
  if (status !== 404) return fault;
  return {
    ...fault,
    text: `${fault.text} (asked ${baseUrl}/chat/completions; does the address lack /v1, or the model exist there?)`,
  };
}

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

function causeCode(error: unknown): string | null {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if ("code" in at && typeof at.code === "string") return at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return null;
}

// Seconds or a date in `retry-after`; milliseconds in the header that OpenAI adds.
function retryAfterMs(headers: Headers | undefined): number | null {
  const ms = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers?.get("retry-after");
  if (text === null || text === undefined) return null;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
