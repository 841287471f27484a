import type { z } from "zod";
import {
  ModelError,
  type CallContext,
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type ModelUsage,
} from "./chat.ts";
import { mendTypes } from "./mend-types.ts";
import { cutText } from "./chat-call.ts";
import { readJson } from "./read-json.ts";
import { jsonInWords } from "./request-body.ts";
import { addUsage } from "./usage.ts";

/** A request for JSON of one shape. */
export interface JsonRequest<T> extends Omit<ChatRequest, "json"> {
  readonly json: { readonly name: string; readonly schema: z.ZodType<T> };
}

/** JSON that a model answered. */
export interface JsonAnswer<T> {
  readonly value: T;
  /** The reply that was taken. */
  readonly reply: ChatReply;
  /** All replies, the useless ones before it included. */
  readonly usage: ModelUsage;
  /** Replies that were of no use, oldest first. */
  readonly rejected: readonly string[];
}

const MAX_REPAIRS = 2;

/**
 * Asks for JSON and validates it; a reply that cannot be read or has the wrong shape is told what was wrong, at most twice, within
 * the call's one limit of time. Rejects as `ChatModel.chat`, with `malformed` when no reply was of use and with `length` for one
 * that was cut: cut JSON is never read, even where it happens to be complete.
 */
export async function chatJson<T>(
  model: ChatModel,
  request: JsonRequest<T>,
  context: CallContext,
): Promise<JsonAnswer<T>> {
  const deadlineMs = performance.now() + context.timeoutMs;
  const taken: ModelUsage[] = [];
  const rejected: string[] = [];
  let messages = request.messages;
  for (let repairs = 0; ; repairs += 1) {
    const timeoutMs = Math.max(1, deadlineMs - performance.now());
    const outcome = await askOnce(model, { ...request, messages }, { ...context, timeoutMs }).catch(
      (error: unknown) => {
        throw error instanceof ModelError ? withEarlier(error, taken, rejected) : error;
      },
    );
    taken.push(outcome.usage);
    const usage = addUsage(taken) ?? outcome.usage;
    if (outcome.wrong === null) return { value: outcome.value, reply: outcome.reply, usage, rejected };
    rejected.push(outcome.text);
    if (repairs === MAX_REPAIRS) {
      throw new ModelError(
        "malformed",
        `${model.name} gave no usable JSON in ${repairs + 1} replies: ${outcome.wrong}`,
        { usage, replies: rejected },
      );
    }
    messages = [...messages, ...repairOf(outcome.text, outcome.wrong, request)];
  }
}

type Outcome<T> = { readonly usage: ModelUsage } & (
  | { readonly wrong: null; readonly value: T; readonly reply: ChatReply }
  | { readonly wrong: string; readonly text: string }
);

async function askOnce<T>(model: ChatModel, request: JsonRequest<T>, context: CallContext): Promise<Outcome<T>> {
  let reply: ChatReply;
  try {
    reply = await model.chat(request, context);
  } catch (error) {
    if (!(error instanceof ModelError && error.failure === "malformed")) throw error;
    return { wrong: "it holds no text", text: error.replies[0] ?? "", usage: error.usage };
  }
  const { usage, text, finishReason, modelId } = reply;
  if (finishReason === "length") {
    throw new ModelError("length", cutText(modelId, request.maxTokens), { usage, replies: [text] });
  }
  const found = readJson(text);
  if (!found.isFound) return { wrong: found.wrong, text, usage };
  const parsed = mendTypes(request.json.schema, found.value);
  return parsed.isValid ? { wrong: null, value: parsed.value, reply, usage } : { wrong: parsed.wrong, text, usage };
}

function repairOf(text: string, wrong: string, { json }: JsonRequest<unknown>): readonly ChatMessage[] {
  return [
    { role: "assistant", content: text.trim() === "" ? "(no text)" : text },
    { role: "user", content: `Your reply cannot be used: ${wrong}. ${jsonInWords(json)}` },
  ];
}

function withEarlier(error: ModelError, taken: readonly ModelUsage[], rejected: readonly string[]): ModelError {
  if (taken.length === 0) return error;
  const { failure, message, limit } = error;
  return new ModelError(failure, message, {
    usage: addUsage([...taken, error.usage]) ?? error.usage,
    replies: [...rejected, ...error.replies],
    ...(limit === null ? {} : { limit }),
    cause: error,
  });
}
