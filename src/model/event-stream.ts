import { z } from "zod";

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
const Delta = z.looseObject({ content: Text, refusal: Text }).catch({ content: "", refusal: "" });
const Chunk = z.looseObject({
  model: Text,
  choices: z.array(z.looseObject({ delta: Delta, finish_reason: z.string().nullish() })).catch([]),
  usage: z.unknown().optional(),
});

/**
 * The one answer that a stream of events adds up to, in the shape of an answer that was not streamed. We never ask for a
 * stream, but some servers send one all the same. Usage counts once: the last one said. Null when the stream was cut.
 */
export function joinEvents(text: string): Readonly<Record<string, unknown>> | null {
  const events = text
    .split(/\r?\n/u)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim());
  const answer = { model: "", usage: null as unknown, finishReason: null as string | null, content: "", refusal: "" };
  for (const event of events) {
    if (event === "[DONE]") break;
    const chunk = parseChunk(event);
    if (chunk === null) return null;
    if ("error" in chunk) return chunk;
    answer.model ||= chunk.model;
    answer.usage = chunk.usage ?? answer.usage;
    for (const { delta, finish_reason: finishReason } of chunk.choices.slice(0, 1)) {
      answer.content += delta.content;
      answer.refusal += delta.refusal;
      answer.finishReason = finishReason ?? answer.finishReason;
    }
  }
  const { model, usage, finishReason, content, refusal } = answer;
  if (finishReason === null) return null;
  return { model, usage, choices: [{ finish_reason: finishReason, message: { content, refusal } }] };
}

function parseChunk(event: string): z.infer<typeof Chunk> | null {
  try {
    return Chunk.parse(JSON.parse(event));
  } catch {
    return null;
  }
}
