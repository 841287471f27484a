import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type Json = Record<string, unknown>;

/** One call as the model sees it. */
export interface ScriptedCall {
  readonly api: "chat" | "responses" | "messages";
  /** 0-based over all calls of the server. */
  readonly index: number;
  readonly body: Json;
  /** The conversation as JSON text, for looking for marks in it. */
  readonly conversation: string;
  /** Whether the last thing said is the result of a tool. */
  readonly isAfterTool: boolean;
  readonly headers: http.IncomingHttpHeaders;
}

/** What the model says, or how it fails. */
export interface ScriptedReply {
  readonly text?: string;
  /** `args` as a string goes out as it is, also when it is no JSON. */
  readonly tools?: readonly { readonly name: string; readonly args: unknown }[];
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** An HTTP error instead of an answer. */
  readonly status?: number;
  readonly errorBody?: Json;
  /** The connection breaks in the middle of the answer. */
  readonly isCut?: boolean;
  /** Nothing is ever answered. */
  readonly isSilent?: boolean;
}

/** A model over real HTTP that says what a script tells it to. */
export interface ScriptedModel extends AsyncDisposable {
  /** Without a version. */
  readonly url: string;
  readonly calls: readonly ScriptedCall[];
}

const MODEL = "scripted-1";
const APIS = { "/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages" } as const;

/** Opens the model on loopback; on a free port unless `port` names one. */
export async function openScriptedModel(
  script: (call: ScriptedCall) => ScriptedReply,
  port = 0,
): Promise<ScriptedModel> {
  const calls: ScriptedCall[] = [];
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (path === "/v1/models")
      return sendJson(response, 200, { object: "list", data: [{ id: MODEL, object: "model" }] });
    const api = APIS[path as keyof typeof APIS];
    if (api === undefined) return sendJson(response, 404, { error: { message: `no ${path}` } });
    const body = JSON.parse(await text(request)) as Json;
    const call = callOf(api, { body, index: calls.length, headers: request.headers });
    calls.push(call);
    const reply = script(call);
    if (reply.isSilent === true) return;
    if (reply.status !== undefined) {
      return sendJson(response, reply.status, reply.errorBody ?? { error: { message: "scripted", code: "scripted" } });
    }
    if (body["stream"] === true) sendEvents(response, SHAPES[api].events(reply, call), reply.isCut === true);
    else if (reply.isCut === true)
      response.writeHead(200, { "content-length": 1000 }).write("{", () => response.destroy());
    else sendJson(response, 200, SHAPES[api].whole(reply, call));
  };
  const server = http.createServer((request, response) => void answer(request, response));
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function callOf(
  api: ScriptedCall["api"],
  { body, index, headers }: Pick<ScriptedCall, "body" | "index" | "headers">,
): ScriptedCall {
  const said = (body["messages"] ?? body["input"]) as Json[] | string;
  const last = typeof said === "string" ? {} : (said.at(-1) ?? {});
  const isAfterTool =
    last["role"] === "tool" ||
    last["type"] === "function_call_output" ||
    (Array.isArray(last["content"]) && last["content"].some((part: Json) => part["type"] === "tool_result"));
  return { api, index, body, headers, isAfterTool, conversation: JSON.stringify(said) };
}

function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function sendEvents(response: http.ServerResponse, events: readonly (Json | string)[], isCut: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const sent = isCut ? events.slice(0, Math.max(1, Math.floor(events.length / 2))) : events;
  for (const event of sent) {
    const name = typeof event === "object" && typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
    response.write(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  }
  if (isCut) setImmediate(() => response.destroy());
  else response.end();
}

interface Shape {
  whole(reply: ScriptedReply, call: ScriptedCall): Json;
  events(reply: ScriptedReply, call: ScriptedCall): readonly (Json | string)[];
}

const argsOf = (args: unknown): string => (typeof args === "string" ? args : JSON.stringify(args));
const tokensOf = ({ inputTokens = 10, outputTokens = 5 }: ScriptedReply) => ({ inputTokens, outputTokens });

const chat: Shape = {
  whole(reply, { index }) {
    const tools = chatTools(reply, index);
    const message = {
      role: "assistant",
      content: reply.text ?? null,
      ...(tools.length === 0 ? {} : { tool_calls: tools }),
    };
    return {
      id: `c${index}`,
      object: "chat.completion",
      created: 1,
      model: MODEL,
      choices: [{ index: 0, message, finish_reason: tools.length === 0 ? "stop" : "tool_calls" }],
      usage: chatUsage(reply),
    };
  },
  events(reply, { index, body }) {
    const chunk = (delta: Json, more: Json = {}): Json => ({
      id: `c${index}`,
      object: "chat.completion.chunk",
      created: 1,
      model: MODEL,
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
    const tools = chatTools(reply, index);
    const wantsUsage = (body["stream_options"] as Json | undefined)?.["include_usage"] === true;
    return [
      chunk({ role: "assistant", content: "" }),
      ...Array.from(reply.text ?? "", (letter) => chunk({ content: letter })),
      ...tools.map((tool, at) => chunk({ tool_calls: [{ index: at, ...tool }] })),
      chunk({}, { finish_reason: tools.length === 0 ? "stop" : "tool_calls" }),
      ...(wantsUsage ? [{ ...chunk({}), choices: [], usage: chatUsage(reply) }] : []),
      "[DONE]",
    ];
  },
};

const chatTools = (reply: ScriptedReply, index: number): Json[] =>
  (reply.tools ?? []).map(({ name, args }, at) => ({
    id: `call_${index}_${at}`,
    type: "function",
    function: { name, arguments: argsOf(args) },
  }));

function chatUsage(reply: ScriptedReply): Json {
  const { inputTokens, outputTokens } = tokensOf(reply);
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

const responses: Shape = {
  whole: (reply, { index }) => ({
    id: `r${index}`,
    object: "response",
    created_at: 1,
    model: MODEL,
    status: "completed",
    output: responseItems(reply, index),
    usage: responseUsage(reply),
  }),
  events(reply, call) {
    const whole = responses.whole(reply, call);
    const items = responseItems(reply, call.index);
    return [
      { type: "response.created", response: { ...whole, status: "in_progress", output: [], usage: null } },
      ...items.flatMap((item, at) => [
        { type: "response.output_item.added", output_index: at, item },
        ...(item["type"] === "message"
          ? [
              {
                type: "response.output_text.delta",
                item_id: item["id"],
                output_index: at,
                content_index: 0,
                delta: reply.text,
              },
            ]
          : []),
        { type: "response.output_item.done", output_index: at, item },
      ]),
      { type: "response.completed", response: whole },
    ];
  },
};

function responseItems(reply: ScriptedReply, index: number): Json[] {
  const said =
    reply.text === undefined
      ? []
      : [
          {
            type: "message",
            id: `m${index}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: reply.text, annotations: [] }],
          },
        ];
  const tools = (reply.tools ?? []).map(({ name, args }, at) => ({
    type: "function_call",
    id: `f${index}_${at}`,
    call_id: `call_${index}_${at}`,
    name,
    arguments: argsOf(args),
    status: "completed",
  }));
  return [...said, ...tools];
}

function responseUsage(reply: ScriptedReply): Json {
  const { inputTokens, outputTokens } = tokensOf(reply);
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
}

const messages: Shape = {
  whole(reply, { index }) {
    const { inputTokens, outputTokens } = tokensOf(reply);
    return {
      id: `msg_${index}`,
      type: "message",
      role: "assistant",
      model: MODEL,
      content: messageBlocks(reply, index),
      stop_reason: reply.tools === undefined ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    };
  },
  events(reply, call) {
    const { outputTokens } = tokensOf(reply);
    const whole = messages.whole(reply, call);
    const blocks = messageBlocks(reply, call.index);
    return [
      {
        type: "message_start",
        message: { ...whole, content: [], stop_reason: null, usage: { ...(whole["usage"] as Json), output_tokens: 1 } },
      },
      ...blocks.flatMap((block, index) => [
        {
          type: "content_block_start",
          index,
          content_block: block["type"] === "text" ? { type: "text", text: "" } : { ...block, input: {} },
        },
        {
          type: "content_block_delta",
          index,
          delta:
            block["type"] === "text"
              ? { type: "text_delta", text: block["text"] }
              : { type: "input_json_delta", partial_json: argsOf(block["input"]) },
        },
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason: whole["stop_reason"], stop_sequence: null },
        usage: { output_tokens: outputTokens },
      },
      { type: "message_stop" },
    ];
  },
};

const messageBlocks = (reply: ScriptedReply, index: number): Json[] => [
  ...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]),
  ...(reply.tools ?? []).map(({ name, args }, at) => ({
    type: "tool_use",
    id: `toolu_${index}_${at}`,
    name,
    input: args,
  })),
];

const SHAPES: Readonly<Record<ScriptedCall["api"], Shape>> = { chat, responses, messages };
