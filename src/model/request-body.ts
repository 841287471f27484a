import type { ChatMessage, ChatPart, ChatRequest } from "./chat.ts";
import { replySchema } from "./json-schema.ts";

/** How an endpoint wants to be asked; learnt from what it refused, and kept for its later calls. */
export interface Dialect {
  /** The parameter for the length limit; newer OpenAI models refuse the older name, local servers know only that. */
  tokensName: "max_tokens" | "max_completion_tokens";
  /** "words": the schema stands in the last message, because the endpoint refuses `response_format`. */
  json: "native" | "words";
  /** Parameters that the endpoint refuses to take. */
  without: ReadonlySet<"temperature" | "seed">;
}

/** The body of one call, in an endpoint's dialect. */
export function requestBody(model: string, request: ChatRequest, dialect: Dialect): Readonly<Record<string, unknown>> {
  const { temperature, seed, json, maxTokens } = request;
  const isNative = json !== undefined && dialect.json === "native";
  const messages = json === undefined || isNative ? request.messages : withSchema(request.messages, jsonInWords(json));
  return {
    model,
    messages: messages.map(({ role, content }) => ({
      role,
      content: typeof content === "string" ? content : content.map(partOf),
    })),
    [dialect.tokensName]: maxTokens,
    ...(temperature === undefined || dialect.without.has("temperature") ? {} : { temperature }),
    ...(seed === undefined || dialect.without.has("seed") ? {} : { seed }),
    ...(isNative ? { response_format: nativeFormat(json) } : {}),
  };
}

/** Says in words which JSON is wanted. */
export function jsonInWords({ schema }: NonNullable<ChatRequest["json"]>): string {
  return `Reply with one JSON object in a \`\`\`json fence and nothing else. It must satisfy this JSON Schema:\n${JSON.stringify(replySchema(schema).schema)}`;
}

function nativeFormat({ name, schema }: NonNullable<ChatRequest["json"]>): Readonly<Record<string, unknown>> {
  const { schema: jsonSchema, isStrict } = replySchema(schema);
  return { type: "json_schema", json_schema: { name, strict: isStrict, schema: jsonSchema } };
}

// Joined to the last message of the user where there is one: some chat templates refuse two in a row.
function withSchema(messages: readonly ChatMessage[], words: string): readonly ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  const content =
    typeof last.content === "string"
      ? `${last.content}\n\n${words}`
      : [...last.content, { type: "text" as const, text: words }];
  return [...messages.slice(0, -1), { ...last, content }];
}

function partOf(part: ChatPart): Readonly<Record<string, unknown>> {
  if (part.type === "text") return { type: "text", text: part.text };
  const url = `data:${part.mediaType};base64,${Buffer.from(part.bytes).toString("base64")}`;
  return { type: "image_url", image_url: { url } };
}
