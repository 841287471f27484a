import { EvowebError } from "../errors.ts";
import { callEndpoint, costOf, usageOf, type CallLimits, type Line, type Tally } from "./call-endpoint.ts";
import type { Cassette, Recording } from "./cassette.ts";
import { ModelError, type CallContext, type ChatReply, type ChatRequest, type ModelUsage } from "./chat.ts";
import { estimateCall } from "./estimate.ts";
import type { Ledger } from "./ledger.ts";
import { requestHash } from "./request-hash.ts";

/** What the calls of one model share. */
export interface Desk {
  readonly line: Line;
  readonly ledger: Ledger;
  readonly cassette: Cassette | undefined;
  /** Fires when the model is closed. */
  readonly closing: AbortSignal;
  /** Told what each call took, failed ones included. */
  readonly book: (role: string, usage: ModelUsage) => void;
}

type Bounds = CallLimits & Tally;

/** `ChatModel.chat`: limits first, then the cassette, then the endpoint with its retries, all within one limit of time. */
export async function chatCall(desk: Desk, request: ChatRequest, context: CallContext): Promise<ChatReply> {
  const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(context.timeoutMs)));
  const signal = AbortSignal.any([context.signal, desk.closing, timeout]);
  const bounds: Bounds = { deadlineMs: performance.now() + context.timeoutMs, signal, tries: [] };
  try {
    const settle = await desk.ledger.admit(context, estimateCall(request, desk.line.price), signal);
    let took: ModelUsage | null = null;
    try {
      const recording = await answer(desk, { request, context, bounds });
      took = usageOfRecording(recording, desk.line.price);
      return replyOf(recording, took, request.maxTokens);
    } finally {
      const usage = took ?? usageOf(bounds.tries, desk.line.price);
      settle(usage);
      desk.book(context.role, usage);
    }
  } catch (error) {
    if (error instanceof ModelError || error instanceof EvowebError) throw error;
    context.signal.throwIfAborted();
    desk.closing.throwIfAborted();
    if (!timeout.aborted) throw error;
    const { endpoint, price } = desk.line;
    const text = `${endpoint.baseUrl} gave no answer within ${Math.round(context.timeoutMs)} ms; tries: ${bounds.tries.length}`;
    throw new ModelError("timeout", text, { usage: usageOf(bounds.tries, price), cause: error });
  }
}

interface Asked {
  readonly request: ChatRequest;
  readonly context: CallContext;
  readonly bounds: Bounds;
}

async function answer({ line, cassette }: Desk, { request, context, bounds }: Asked): Promise<Recording> {
  const ask = (): Promise<Recording> => askEndpoint(line, request, bounds);
  if (cassette === undefined) return await ask();
  const { role, app, check, sample } = context;
  const recording = await cassette.answer(
    { hash: requestHash(line.model, request, sample), model: line.model, role },
    ask,
  );
  if (recording !== null) return recording;
  const text = `${cassette.file} has no reply to this request (${role}, check ${check} of ${app}, sample ${sample})`;
  throw new ModelError("no_recording", text, { usage: usageOf([], line.price) });
}

async function askEndpoint(line: Line, request: ChatRequest, bounds: Bounds): Promise<Recording> {
  const startedMs = performance.now();
  const { text, refusal, finishReason, modelId } = await callEndpoint(line, request, bounds);
  const { calls, inputTokens, outputTokens } = usageOf(bounds.tries, line.price);
  const durationMs = Math.round(performance.now() - startedMs);
  return { text, refusal, finishReason, modelId: modelId || line.model, calls, inputTokens, outputTokens, durationMs };
}

function usageOfRecording({ calls, inputTokens, outputTokens }: Recording, price: Line["price"]): ModelUsage {
  return { calls, inputTokens, outputTokens, costUsd: costOf(inputTokens, outputTokens, price) };
}

// By refusal field and finish reason. Text that was cut at the length limit is a reply, and says so in its finish reason: whether
// a cut text is of use is for the reader to know. Without any text, it is none.
function replyOf(recording: Recording, usage: ModelUsage, maxTokens: number): ChatReply {
  const { text, refusal, finishReason, modelId, durationMs } = recording;
  const fail = (failure: ModelError["failure"], message: string): ModelError =>
    new ModelError(failure, message, { usage, replies: text ? [text] : [] });
  if (refusal !== null) throw fail("refusal", `${modelId} refused: ${refusal.slice(0, 300)}`);
  if (finishReason === "content_filter") throw fail("refusal", `a content filter stopped the answer of ${modelId}`);
  if (finishReason === "length" && (text ?? "").trim() === "") throw fail("length", cutText(modelId, maxTokens));
  if (text === null) throw fail("malformed", `${modelId} answered without any text (finish reason ${finishReason})`);
  return { text, finishReason, usage, modelId, durationMs };
}

/** What to say about an answer that was cut. */
export function cutText(modelId: string, maxTokens: number): string {
  return `the answer of ${modelId} was cut at the limit of ${maxTokens} output tokens; a thinking model needs a higher one`;
}
