// A scripted model server: a real HTTP server with the API of a model and no model behind it. No result of it is a model's.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json as readJsonBody } from "node:stream/consumers";

/** What one call is answered with. A string is an ordinary reply with that text. */
export type ScriptedReply =
  | string
  /** A well-formed completion. */
  | {
      readonly type: "completion";
      readonly content: unknown;
      /** Default "stop". */
      readonly finishReason?: string;
      readonly refusal?: string;
      /** Default: 100 tokens in, 20 out; null is sent as null, "absent" leaves it out. */
      readonly usage?: unknown;
    }
  /** Any status, headers and body; JSON unless the body is a string. */
  | {
      readonly type: "response";
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: unknown;
    }
  /** The head and the first part of a body, then the connection is destroyed. */
  | { readonly type: "cut"; readonly body: string; readonly contentType?: string }
  /** The connection is destroyed before any answer. */
  | { readonly type: "hang-up" }
  /** Nothing is ever answered. */
  | { readonly type: "silence" };

/** A call that the server got. */
interface ScriptedCall {
  /** 0-based. */
  readonly index: number;
  readonly url: string;
  readonly authorization: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test reads from a request is up to the test
  readonly body: any;
}

/** A running server. */
export interface ScriptedServer extends AsyncDisposable {
  /** With `/v1`; everything outside of it is a plain 404. */
  readonly baseUrl: string;
  /** Without a path. */
  readonly origin: string;
  /** Calls of chat completions so far. */
  readonly calls: readonly ScriptedCall[];
  /** Most calls that were under way at a time. */
  readonly mostAtOnce: () => number;
}

/** Answers from a list in order, its last one for ever, or from a function, which may take its time. */
export type Script = readonly ScriptedReply[] | ((call: ScriptedCall) => ScriptedReply | Promise<ScriptedReply>);

/** Refusals as endpoints send them. */
export const REFUSED = {
  rateLimit: (headers: Readonly<Record<string, string>> = {}): ScriptedReply =>
    refused(429, { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" }, headers),
  noQuota: refused(429, { message: "You exceeded your quota", type: "insufficient_quota", code: "insufficient_quota" }),
  badKey: refused(401, {
    message: "Incorrect API key provided",
    type: "invalid_request_error",
    code: "invalid_api_key",
  }),
  contextOverflow: refused(400, {
    message: "This model's maximum context length is 8192 tokens",
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "messages",
  }),
  noResponseFormat: refused(400, {
    message: "unknown field",
    type: "invalid_request_error",
    param: "response_format",
  }),
  parameter: (param: string): ScriptedReply =>
    refused(400, {
      message: `Unsupported parameter: ${param}`,
      type: "invalid_request_error",
      code: "unsupported_parameter",
      param,
    }),
  overloaded: refused(503, { message: "overloaded", type: "server_error" }),
  htmlPage: {
    type: "response",
    status: 502,
    headers: { "content-type": "text/html" },
    body: "<html><body><h1>502 Bad Gateway</h1></body></html>",
  },
} satisfies Record<string, ScriptedReply | ((argument: never) => ScriptedReply)>;

function refused(status: number, error: unknown, headers: Readonly<Record<string, string>> = {}): ScriptedReply {
  return { type: "response", status, headers, body: { error } };
}

/** Starts a server on a free port of the loopback address. */
export async function openScriptedServer(script: Script): Promise<ScriptedServer> {
  const calls: ScriptedCall[] = [];
  let [atOnce, mostAtOnce] = [0, 0];
  const replyTo =
    typeof script === "function"
      ? script
      : ({ index }: ScriptedCall) => script[Math.min(index, script.length - 1)] ?? "";
  const onCall = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? "";
    if (url === "/v1/models")
      return sendJson(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
    if (url !== "/v1/chat/completions") return void response.writeHead(404).end("404 page not found");
    const authorization = request.headers.authorization ?? "";
    const body: unknown = await readJsonBody(request);
    const call: ScriptedCall = { index: calls.length, url, authorization, body };
    calls.push(call);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    response.once("close", () => (atOnce -= 1));
    send(response, await replyTo(call));
  };
  const server = createServer((request, response) => {
    onCall(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    calls,
    mostAtOnce: () => mostAtOnce,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, reply: ScriptedReply): void {
  if (typeof reply === "string") return send(response, { type: "completion", content: reply });
  switch (reply.type) {
    case "completion":
      return sendJson(response, 200, completion(reply));
    case "response": {
      const { status = 200, headers = {}, body } = reply;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      return void response.end(typeof body === "string" ? body : JSON.stringify(body));
    }
    case "cut":
      response.writeHead(200, { "content-type": reply.contentType ?? "application/json" });
      return void response.write(reply.body, () => response.socket?.destroy());
    case "hang-up":
      return void response.socket?.destroy();
    case "silence":
      return undefined;
  }
}

function completion({
  content,
  finishReason = "stop",
  refusal,
  usage,
}: Extract<ScriptedReply, { type: "completion" }>): unknown {
  const counts = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  return {
    id: "scripted-1",
    object: "chat.completion",
    created: 1767225600,
    model: "scripted",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, ...(refusal === undefined ? {} : { refusal }) },
        finish_reason: finishReason,
      },
    ],
    ...(usage === "absent" ? {} : { usage: usage === undefined ? counts : usage }),
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
