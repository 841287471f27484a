import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { EvowebError, messageOf } from "../errors.ts";
import { priceOf } from "../model/prices.ts";
import type { TraceEvent } from "../trace/event.ts";
import type { Mask } from "../trace/mask.ts";
import type { ModelAnswer } from "./agent.ts";
import { requestDir } from "./app-trace.ts";
import { Gateway } from "./gateway/gateway.ts";
import type { CallTokens, LlmCall } from "./gateway/llm-call.ts";
import type { Budgets, Meter } from "./gateway/meter.ts";
import type { Upstreams } from "./gateway/upstream.ts";
import type { RunOptions } from "./options.ts";

/** What one app's gateway is made from. */
export interface AppGatewayOptions {
  /** The app's folder; calls are written below it. */
  readonly dir: string;
  readonly options: RunOptions;
  readonly upstreams: Upstreams;
  readonly runMeter: Meter;
  readonly mask: Mask;
  readonly inspect: (body: string) => void;
  /** The app's events so far: what was spent before counts against the app's budget. */
  readonly events: readonly TraceEvent[];
}

/** File of a request's model calls, relative to the app's folder. */
export const llmCallsPath = (request: number): string => `${requestDir(request)}/llm-calls.jsonl`;

/** One app's gateway, which writes every call into the app's folder. */
export function openAppGateway(from: AppGatewayOptions): Gateway {
  const { dir, options, upstreams, runMeter, mask, inspect, events } = from;
  const gateway = new Gateway({
    upstreams,
    budgets: budgetsOf(options),
    runMeter,
    priceOf: costOf,
    record: (call, bodies) => writeCall({ dir, mask }, call, bodies),
    inspect,
    keepsBodies: options.keepLlmBodies,
    mask,
  });
  for (const event of events) if (event.type === "agent_finished") gateway.appMeter.resume(event);
  return gateway;
}

function costOf(model: string, { inputTokens, outputTokens }: CallTokens): number | null {
  const price = priceOf(model);
  if (price === null) return null;
  return (inputTokens * price.inputUsdPerMillion + outputTokens * price.outputUsdPerMillion) / 1e6;
}

function budgetsOf(options: RunOptions): Budgets {
  return {
    request: {
      calls: options.agentCallsPerRequest,
      tokens: options.agentTokensPerRequest,
      usd: options.agentUsdPerRequest,
    },
    app: { calls: options.agentCallsPerApp, tokens: options.agentTokensPerApp, usd: options.agentUsdPerApp },
    run: { calls: options.agentCallsPerRun, tokens: options.agentTokensPerRun, usd: options.agentUsdPerRun },
  };
}

function writeCall(
  { dir, mask }: { dir: string; mask: Mask },
  call: LlmCall,
  bodies: { readonly request: Buffer; readonly response: Buffer } | null,
): void {
  const path = join(dir, llmCallsPath(call.request));
  try {
    mkdirSync(join(dir, requestDir(call.request)), { recursive: true });
    const keep = (body: Buffer): string => writeBody(join(dir, "llm-bodies"), mask(body.toString("utf8")));
    const kept = bodies === null ? {} : { bodies: { request: keep(bodies.request), response: keep(bodies.response) } };
    appendFileSync(path, `${mask(JSON.stringify({ ...call, ...kept }))}\n`);
  } catch (error) {
    throw new EvowebError("io", `cannot write ${path}: ${messageOf(error)}. Free some space, then use --resume`, {
      cause: error,
    });
  }
}

function writeBody(folder: string, body: string): string {
  const hash = createHash("sha256").update(body).digest("hex");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, hash), body);
  return hash;
}

/** Asks a gateway from the host, through the address it listens on for its place. */
export function askGateway(
  gateway: Gateway,
): (path: string, body: unknown, signal: AbortSignal) => Promise<ModelAnswer> {
  return async (path, body, signal) => {
    const address = gateway.server.address();
    if (address === null) throw new EvowebError("bug", "the gateway is asked and does not listen");
    const where = typeof address === "string" ? { socketPath: address } : { host: "127.0.0.1", port: address.port };
    const headers = { "content-type": "application/json", authorization: `Bearer ${gateway.placeholderKey}` };
    return new Promise((resolve, reject) => {
      const request = http.request({ ...where, path, method: "POST", headers, agent: false, signal });
      request.on("response", (response) => {
        text(response).then(
          (said) => resolve({ status: response.statusCode ?? 0, text: said }),
          // A connection that broke in the middle of an answer; the loop decides whether to ask again.
          (error: unknown) => (signal.aborted ? reject(signal.reason) : resolve({ status: 0, text: messageOf(error) })),
        );
      });
      request.on("error", (error) =>
        signal.aborted ? reject(signal.reason) : resolve({ status: 0, text: error.message }),
      );
      request.end(JSON.stringify(body));
    });
  };
}
