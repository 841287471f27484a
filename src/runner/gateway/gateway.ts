// The way from an agent to its model: a proxy on the host that holds the key, counts every call and enforces limits. It
// changes nothing of what is asked or answered, and tries nothing again.
import { randomBytes } from "node:crypto";
import http from "node:http";
import type { FiredLimit, Usage } from "../../trace/event.ts";
import type { Mask } from "../../trace/mask.ts";
import { errorBody, routeOf, showsKey, type GatewayError, type Route } from "./api.ts";
import type { CallError, CallTokens, LlmCall } from "./llm-call.ts";
import { Meter, type Budgets } from "./meter.ts";
import { passOn, type PassedCall } from "./pass-on.ts";
import { MAX_REQUEST_BYTES, readBody } from "./read-body.ts";
import { upstreamFor, type Upstreams } from "./upstream.ts";

/** How a gateway is made. */
export interface GatewayOptions {
  readonly upstreams: Upstreams;
  readonly budgets: Budgets;
  /** Counts over all apps of the run. */
  readonly runMeter: Meter;
  /** US dollars for a call, by the id that the endpoint returned (or was asked for); null when the price is unknown. */
  readonly priceOf: (model: string, usage: CallTokens) => number | null;
  /** Called with each call as it ends; `bodies` only when they are to be kept. */
  readonly record: (call: LlmCall, bodies: { readonly request: Buffer; readonly response: Buffer } | null) => void;
  /** Called with each body that an agent sends, before it is passed on. */
  readonly inspect?: (body: string) => void;
  readonly keepsBodies?: boolean;
  /** Removes the key from what an endpoint says about an error. */
  readonly mask: Mask;
}

/** What the gateway saw of one request. */
export interface RequestAccount {
  readonly calls: number;
  /** Calls that got any piece of a completion. */
  readonly answered: number;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  /** The first limit that refused a call. */
  readonly limit: FiredLimit | null;
  /** How the last call ended; null when it was answered, or when there was none. */
  readonly lastError: CallError | null;
}

interface Current {
  readonly request: number;
  readonly attempt: number;
  readonly meter: Meter;
  limit: FiredLimit | null;
  lastError: CallError | null;
}

/** One app's way to its model. The owner makes `server` listen, on a unix socket or on the loopback, and closes it. */
export class Gateway {
  readonly server: http.Server;
  /** The key that the agent is given; it opens nothing but this gateway. */
  readonly placeholderKey = `evoweb-${randomBytes(18).toString("hex")}`;
  readonly appMeter = new Meter();
  readonly #options: GatewayOptions;
  readonly #open = new Map<http.ServerResponse, Promise<void>>();
  #current: Current | null = null;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.server = http.createServer((request, response) => {
      const call = this.#handle(request, response).catch(() => void response.destroy());
      this.#open.set(response, call);
      void call.finally(() => this.#open.delete(response));
    });
    // A model may think for longer than a server usually waits for the rest of a request.
    this.server.requestTimeout = 0;
    this.server.on("clientError", (_, socket) => socket.destroy());
  }

  /** Says that request k begins: calls from now on are its calls. */
  begin(request: number, attempt: number): void {
    this.#current = { request, attempt, meter: new Meter(), limit: null, lastError: null };
  }

  /** What the current request took so far; null before the first one. */
  account(): RequestAccount | null {
    if (this.#current === null) return null;
    const { meter, limit, lastError } = this.#current;
    const { usage, answered } = meter;
    const calls = usage.calls ?? 0;
    return { calls, answered, usage, costUsd: meter.costUsd, limit, lastError };
  }

  /** Says that the request is over: open calls are cut and recorded, later ones refused. */
  async finish(): Promise<RequestAccount | null> {
    // Not the idle connections: an agent that lives on would find its next call broken.
    for (const response of this.#open.keys()) response.destroy();
    await Promise.all(this.#open.values());
    const account = this.account();
    this.#current = null;
    return account;
  }

  async #handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const route = routeOf(request.url ?? "", request.headers);
    const current = this.#current;
    const call = openCall(request, { route, current });
    response.on("error", () => {});
    const body = await readBody(request);
    call.requestBytes = body?.length ?? 0;
    const admitted = this.#admit({ route, current, headers: request.headers, body });
    if ("error" in admitted) return this.#refuse(response, call, admitted);
    this.#options.inspect?.(admitted.body.toString("utf8"));
    const meters = this.#metersFor(admitted);
    for (const meter of meters) meter.begin();
    const { keepsBodies = false, mask } = this.#options;
    const passed = await passOn(request, response, { ...admitted, mask, keepsBodies });
    const costUsd = this.#costOf(passed);
    for (const meter of meters) meter.end({ ...passed, costUsd });
    if (admitted.route.api !== null) admitted.current.lastError = passed.error;
    this.#record(call, { ...passed, costUsd });
  }

  /** Look-ups cost nothing and are no answers. */
  #metersFor({ route, current }: Admitted): readonly Meter[] {
    return route.api === null ? [] : [current.meter, this.appMeter, this.#options.runMeter];
  }

  #costOf({ modelReturned, modelAsked, usage }: PassedCall): number | null {
    const model = modelReturned ?? modelAsked;
    return model === null || usage === null ? null : this.#options.priceOf(model, usage);
  }

  #admit(asked: Asked): Refusal | Admitted {
    const { route, current, headers, body } = asked;
    if (!showsKey(headers, this.placeholderKey)) {
      return refuse(401, "authentication_error", "this gateway knows only the key that the agent was given");
    }
    if (route === null)
      return { error: notServed("it serves chat completions, responses, messages and models"), limit: null };
    if (body === null) return refuse(413, "request_too_large", `a request may have ${MAX_REQUEST_BYTES} bytes`);
    if (current === null) return refuse(400, "no_request", "no request is being worked on");
    const limit = route.api === null ? null : this.#firedLimit(current);
    if (limit === null) {
      const to = upstreamFor(this.#options.upstreams, route.family);
      if (to !== null) return { route, current, body, to };
      return { error: notServed(`this run has no ${route.family} endpoint`), limit: null };
    }
    current.limit ??= limit;
    const message = `The budget of this ${limit.scope ?? "request"} is used up (${limit.clock}: ${limit.value} of ${limit.max}). Stop here.`;
    return { error: { status: 400, type: "invalid_request_error", code: "budget_exhausted", message }, limit };
  }

  #firedLimit({ meter }: Current): FiredLimit | null {
    const { budgets, runMeter } = this.#options;
    return (
      meter.fired(budgets.request, "request") ??
      this.appMeter.fired(budgets.app, "app") ??
      runMeter.fired(budgets.run, "run")
    );
  }

  #refuse(response: http.ServerResponse, call: OpenCall, { error, limit }: Refusal): void {
    const body = errorBody(call.route?.family ?? "openai", error);
    const closing = error.status === 413 ? { connection: "close" } : {};
    response.writeHead(error.status, { "content-type": "application/json", ...closing }).end(body);
    this.#record(call, {
      status: error.status,
      responseBytes: Buffer.byteLength(body),
      isStreamed: false,
      modelAsked: null,
      modelReturned: null,
      usage: null,
      costUsd: null,
      firstByteMs: null,
      hasOutput: false,
      end: "refused",
      error: { class: limit === null ? "bad_request" : "budget", code: error.code },
      limit,
      bodies: null,
    });
  }

  #record(call: OpenCall, passed: PassedCall & { costUsd: number | null; limit?: FiredLimit | null }): void {
    const { current, startedAt, route, requestBytes, time, path } = call;
    if (current === null) return;
    const { bodies, limit, ...rest } = passed;
    const line: LlmCall = {
      time,
      request: current.request,
      attempt: current.attempt,
      api: route?.api ?? null,
      path,
      requestBytes,
      ...rest,
      latencyMs: Math.round(performance.now() - startedAt),
      ...(limit === undefined || limit === null ? {} : { limit }),
    };
    this.#options.record(line, bodies);
  }
}

interface Asked {
  readonly route: Route | null;
  readonly current: Current | null;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer | null;
}

interface Admitted {
  readonly route: Route;
  readonly current: Current;
  readonly body: Buffer;
  readonly to: NonNullable<ReturnType<typeof upstreamFor>>;
}

interface Refusal {
  readonly error: GatewayError;
  readonly limit: FiredLimit | null;
}

interface OpenCall {
  readonly time: string;
  readonly startedAt: number;
  readonly path: string;
  readonly route: Route | null;
  readonly current: Current | null;
  requestBytes: number;
}

function openCall(request: http.IncomingMessage, asked: Pick<OpenCall, "route" | "current">): OpenCall {
  const startedAt = performance.now();
  return { time: new Date().toISOString(), startedAt, path: request.url ?? "", requestBytes: 0, ...asked };
}

const refuse = (status: number, type: string, message: string): Refusal => ({
  error: { status, type, code: type, message: `evoweb gateway: ${message}` },
  limit: null,
});

const notServed = (why: string): GatewayError => ({
  status: 404,
  type: "not_found_error",
  code: "not_found_error",
  message: `evoweb gateway: not served here; ${why}`,
});
