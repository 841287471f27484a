import { z } from "zod";
import { joinEvents } from "./event-stream.ts";
import { badAnswer, classify, quote, type TryFault } from "./failure.ts";

/** What one try brought; everything that a reply is made from. */
export interface Completion {
  /** Null when the answer held no text at all. */
  readonly text: string | null;
  /** The model's own words for not answering; null when it did not refuse. */
  readonly refusal: string | null;
  readonly finishReason: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly modelId: string;
}

const Count = z.int().min(0).nullable().catch(null);
const NO_COUNTS = { prompt_tokens: null, completion_tokens: null };
const Part = z.looseObject({ type: z.literal("text"), text: z.string() });
const Word = z
  .string()
  .nullish()
  .catch(null)
  .transform((word) => (word === undefined || word === "" ? null : word));
const ErrorBody = z.looseObject({
  code: z.union([z.string(), z.number()]).nullish().catch(null),
  type: Word,
  message: z.string().catch(""),
});
const Choice = z.looseObject({
  finish_reason: Word,
  message: z
    .looseObject({
      content: z
        .union([z.string(), z.array(z.unknown())])
        .nullish()
        .catch(null),
      refusal: Word,
    })
    .nullish(),
  error: ErrorBody.nullish(),
});
const Body = z.looseObject({
  error: ErrorBody.nullish(),
  model: z.string().catch(""),
  choices: z.array(Choice).nullish(),
  usage: z.looseObject({ prompt_tokens: Count, completion_tokens: Count }).catch(NO_COUNTS),
});

/** Reads the body of an answer with a good status: gateways put errors, pages and nothing at all there. */
export function readCompletion(body: unknown): Completion | TryFault {
  const joined = typeof body === "string" && body.startsWith("data:") ? joinEvents(body) : body;
  const seen = (): string => quote(JSON.stringify(body) ?? "nothing");
  const parsed = Body.safeParse(joined);
  if (!parsed.success) return badAnswer(`answered 200 with something that is no completion: ${seen()}`);
  const { error, choices, usage, model } = parsed.data;
  const choice = choices?.[0];
  const inner = error ?? choice?.error;
  if (inner) return gatewayError(inner);
  if (!choice?.message || choice.finish_reason === "error")
    return badAnswer(`answered 200 without an answer: ${seen()}`);
  return {
    text: textOf(choice.message.content),
    refusal: choice.message.refusal,
    finishReason: choice.finish_reason ?? "unknown",
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    modelId: model,
  };
}

function gatewayError({ code, type, message }: z.infer<typeof ErrorBody>): TryFault {
  const number = typeof code === "number" ? code : Number(code ?? Number.NaN);
  const isStatus = Number.isInteger(number) && number >= 400 && number < 600;
  const codes = [code, type].filter((name): name is string => typeof name === "string" && !isDigits(name));
  const fault = classify({ status: isStatus ? number : 500, codes, param: null, words: message, retryAfterMs: null });
  return { ...fault, text: `answered 200, but inside: ${fault.text}`, isFree: false };
}

const isDigits = (text: string): boolean => /^\d+$/u.test(text);

function textOf(content: string | readonly unknown[] | null | undefined): string | null {
  if (typeof content === "string") return content;
  const texts = (content ?? []).flatMap((part) => {
    const parsed = Part.safeParse(part);
    return parsed.success ? [parsed.data.text] : [];
  });
  return texts.length === 0 ? null : texts.join("");
}
