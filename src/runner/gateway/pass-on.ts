import http from "node:http";
import https from "node:https";
import { z } from "zod";
import type { Mask } from "../../trace/mask.ts";
import { AnswerReader } from "./answer-reader.ts";
import { errorBody, type Route } from "./api.ts";
import { errorOfStatus, type CallError, type LlmCall } from "./llm-call.ts";
import { passedOn, upstreamUrl, type upstreamFor } from "./upstream.ts";

/** What is known of a call once its answer has passed. */
export type PassedCall = Pick<
  LlmCall,
  | "status"
  | "responseBytes"
  | "isStreamed"
  | "modelAsked"
  | "modelReturned"
  | "usage"
  | "firstByteMs"
  | "hasOutput"
  | "end"
  | "error"
> & {
  /** Null when they are not kept. */
  readonly bodies: { readonly request: Buffer; readonly response: Buffer } | null;
};

/** What is passed on, and where. */
export interface Passing {
  readonly body: Buffer;
  readonly route: Route;
  readonly to: NonNullable<ReturnType<typeof upstreamFor>>;
  readonly mask: Mask;
  readonly keepsBodies: boolean;
}

const AskedModel = z.object({ model: z.string().nullish() });

function modelAskedFor(body: Buffer): string | null {
  try {
    return AskedModel.parse(JSON.parse(body.toString("utf8"))).model ?? null;
  } catch {
    return null;
  }
}

/** Passes a call on to its endpoint and the answer back as it comes; resolves when either side is done. Never rejects. */
export async function passOn(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  passing: Passing,
): Promise<PassedCall> {
  const { body, route } = passing;
  const startedAt = performance.now();
  const answer = await ask(request, response, passing);
  const modelAsked = modelAskedFor(body);
  if (!("message" in answer)) {
    if (!response.destroyed) sendUnreachable(response, route, answer.code);
    const isGone = response.destroyed;
    return {
      ...nothingOf({ modelAsked, body, keeps: passing.keepsBodies }),
      status: isGone ? null : 502,
      end: isGone ? "client_gone" : "complete",
      error: isGone ? null : { class: "network", code: answer.code },
    };
  }
  const { message } = answer;
  const status = message.statusCode ?? 502;
  const isStreamed = (message.headers["content-type"] ?? "").startsWith("text/event-stream");
  const reader = new AnswerReader(isStreamed);
  const firstByteMs = Math.round(performance.now() - startedAt);
  const relayed =
    status >= 400
      ? await relayError({ message, response, reader, mask: passing.mask })
      : await relay({ message, response, reader, keeps: passing.keepsBodies });
  return {
    status,
    responseBytes: relayed.bytes,
    isStreamed,
    modelAsked,
    modelReturned: reader.model,
    usage: reader.usage,
    firstByteMs,
    hasOutput: status < 400 && reader.hasOutput,
    end: relayed.end,
    error: relayed.end === "cut" ? { class: "cut", code: null } : errorIn(status, reader),
    bodies: passing.keepsBodies ? { request: body, response: Buffer.concat(relayed.kept) } : null,
  };
}

/** An error may also come in a stream that began well. */
function errorIn(status: number, { errorCode }: AnswerReader): CallError | null {
  return errorOfStatus(status, errorCode) ?? (errorCode === null ? null : { class: "server", code: errorCode });
}

function nothingOf(of: { modelAsked: string | null; body: Buffer; keeps: boolean }) {
  return {
    responseBytes: 0,
    isStreamed: false,
    modelAsked: of.modelAsked,
    modelReturned: null,
    usage: null,
    firstByteMs: null,
    hasOutput: false,
    bodies: of.keeps ? { request: of.body, response: Buffer.alloc(0) } : null,
  };
}

type Answer = { readonly message: http.IncomingMessage } | { readonly code: string };

function ask(request: http.IncomingMessage, response: http.ServerResponse, passing: Passing): Promise<Answer> {
  const { body, route, to } = passing;
  const url = upstreamUrl(to.upstream.baseUrl, route.suffix);
  return new Promise((resolve) => {
    const upstream = (url.protocol === "http:" ? http : https).request(url, {
      method: request.method ?? "POST",
      headers: {
        ...passedOn(request.headers),
        ...to.auth,
        // Otherwise the usage in the answer could not be read while it passes.
        "accept-encoding": "identity",
        ...(body.length === 0 ? {} : { "content-length": body.length }),
      },
    });
    upstream.on("response", (message) => resolve({ message }));
    upstream.on("error", (error: NodeJS.ErrnoException) => resolve({ code: error.code ?? "ERROR" }));
    // An agent that was ended must not go on costing money.
    response.on("close", () => {
      if (!response.writableFinished) upstream.destroy();
    });
    if (response.destroyed) upstream.destroy();
    upstream.end(body);
  });
}

function sendUnreachable(response: http.ServerResponse, route: Route, code: string): void {
  const message = `evoweb gateway: the model endpoint cannot be reached (${code})`;
  const body = errorBody(route.family, { status: 502, type: "api_error", code: "upstream_unreachable", message });
  response.writeHead(502, { "content-type": "application/json" }).end(body);
}

interface Relayed {
  readonly bytes: number;
  readonly end: PassedCall["end"];
  readonly kept: readonly Buffer[];
}

interface Relay {
  readonly message: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly reader: AnswerReader;
  readonly keeps: boolean;
}

function relay({ message, response, reader, keeps }: Relay): Promise<Relayed> {
  response.writeHead(message.statusCode ?? 502, passedOn(message.headers));
  // Headers alone tell an agent that its call has arrived.
  response.flushHeaders();
  let bytes = 0;
  const kept: Buffer[] = [];
  message.on("data", (piece: Buffer) => {
    bytes += piece.length;
    reader.push(piece);
    if (keeps) kept.push(piece);
  });
  message.pipe(response);
  return new Promise((resolve) => {
    const settle = (end: PassedCall["end"]): void => {
      reader.end();
      resolve({ bytes, end, kept });
    };
    message.on("error", () => {
      // The endpoint's connection broke: the agent must see a cut too, not a whole answer.
      if (!response.destroyed) response.destroy();
      settle("cut");
    });
    response.on("finish", () => settle("complete"));
    response.on("close", () => settle(message.complete ? "complete" : "client_gone"));
  });
}

/** An error is read whole and freed of secrets: some endpoints repeat the key that they were shown. */
async function relayError({
  message,
  response,
  reader,
  mask,
}: Omit<Relay, "keeps"> & { mask: Mask }): Promise<Relayed> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
  } catch {
    if (response.destroyed) return { bytes: 0, end: "client_gone", kept: pieces };
    response.destroy();
    return { bytes: 0, end: "cut", kept: pieces };
  }
  const body = Buffer.from(mask(Buffer.concat(pieces).toString("utf8")));
  reader.push(body);
  reader.end();
  if (!response.destroyed) response.writeHead(message.statusCode ?? 502, passedOn(message.headers)).end(body);
  return { bytes: body.length, end: response.destroyed ? "client_gone" : "complete", kept: [body] };
}
