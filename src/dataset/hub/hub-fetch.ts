import { setTimeout as wait } from "node:timers/promises";
import { EvowebError, messageOf } from "../../errors.ts";
import { refusalOf, stopOf, type Asked } from "./refusal.ts";

const TRIES = 5;
const FIRST_PAUSE_MS = 500;
const ANSWER_LIMIT_MS = 60_000;

/** What every request of one pull shares. */
export interface FetchOptions extends Asked {
  /** Ends the pull: the caller's signal, or the limit of all requests and waits together. */
  readonly signal: AbortSignal;
  /** When that limit is reached, as `Date.now()` counts. */
  readonly endMs: number;
}

/**
 * A `fetch` for the hub's client: it waits when it is told to (Retry-After), tries again after network faults and 5xx, sends the
 * token to the hub only, and ends with an EvowebError `dataset` that says what to do. Every answer it gives is a good one.
 */
export function createHubFetch(options: FetchOptions): typeof fetch {
  const { token, signal, endMs } = options;
  const origin = new URL(options.url).origin;
  return async (input, init) => {
    const target = input instanceof Request ? input.url : String(input);
    const headers = new Headers(init?.headers);
    if (token !== undefined && new URL(target).origin === origin) headers.set("authorization", `Bearer ${token}`);
    for (let attempt = 1; ; attempt += 1) {
      const answer = await ask(() => answerWithin(input, { ...init, headers }, signal), options);
      if (!(answer instanceof NetworkFault)) {
        if (answer.ok) return answer;
        if (!isPassing(answer.status)) throw refusalOf(answer, options);
        await answer.body?.cancel();
      }
      const pauseMs = Math.max(FIRST_PAUSE_MS * 2 ** (attempt - 1), askedPauseMs(answer));
      if (attempt === TRIES || Date.now() + pauseMs > endMs) throw givenUp({ answer, attempt, pauseMs, options });
      await wait(pauseMs, undefined, { signal }).catch((error: unknown) => {
        throw stopOf(options, error);
      });
    }
  };
}

async function ask(request: () => Promise<Response>, options: FetchOptions): Promise<Response | NetworkFault> {
  try {
    return await request();
  } catch (error) {
    if (options.signal.aborted) throw stopOf(options, error);
    return new NetworkFault(error);
  }
}

// The limit is for the beginning of the answer: a large body may take longer.
async function answerWithin(input: string | URL | Request, init: RequestInit, signal: AbortSignal): Promise<Response> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`no answer in ${ANSWER_LIMIT_MS / 1000} s`)), ANSWER_LIMIT_MS);
  try {
    return await fetch(input, { ...init, signal: AbortSignal.any([signal, silence.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

class NetworkFault {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

// Retry-After holds seconds or a date.
function askedPauseMs(answer: Response | NetworkFault): number {
  const text = answer instanceof NetworkFault ? null : answer.headers.get("retry-after");
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

interface GivenUp {
  readonly answer: Response | NetworkFault;
  readonly attempt: number;
  readonly pauseMs: number;
  readonly options: FetchOptions;
}

function givenUp({ answer, attempt, pauseMs, options: { repo, url } }: GivenUp): EvowebError {
  const tries = attempt === 1 ? "1 try" : `${attempt} tries`;
  if (answer instanceof NetworkFault) {
    const { cause } = answer;
    // fetch itself says no more than "fetch failed".
    const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
    const hint = "check the network and HF_ENDPOINT; HF_HUB_OFFLINE=1 uses what was pulled before";
    const message = `dataset ${repo}: ${url} cannot be reached (${messageOf(inner)}) after ${tries}; ${hint}`;
    return new EvowebError("dataset", message, { cause });
  }
  const asked = answer.status === 429 ? `asks to slow down and wait ${Math.ceil(pauseMs / 1000)} s` : "is in trouble";
  const message = `dataset ${repo}: ${url} ${asked} (status ${answer.status}) after ${tries}; try again later`;
  return new EvowebError("dataset", message);
}
