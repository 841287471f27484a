import { createHash } from "node:crypto";
import type { ChatMessage, ChatRequest } from "./chat.ts";
import { replySchema } from "./json-schema.ts";

/**
 * What tells one question from another, wherever it is asked: SHA-256 over the model's name, messages (images by their own
 * hash), parameters, wanted JSON and sample. Endpoint, key, app and check are not in it.
 */
export function requestHash(model: string, request: ChatRequest, sample: string): string {
  const { messages, maxTokens, temperature = null, seed = null, json } = request;
  const wanted = json === undefined ? null : { name: json.name, schema: replySchema(json.schema).schema };
  return sha256(JSON.stringify([1, model, messages.map(canonical), { maxTokens, temperature, seed }, wanted, sample]));
}

function canonical({ role, content }: ChatMessage): unknown {
  if (typeof content === "string") return [role, content];
  return [
    role,
    content.map((part) => (part.type === "text" ? part.text : { image: sha256(part.bytes), type: part.mediaType })),
  ];
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
