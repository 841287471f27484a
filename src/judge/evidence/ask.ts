import type { z } from "zod";
import { ModelError, type CallContext, type ChatMessage, type ChatModel, type ModelUsage } from "../../model/chat.ts";
import { chatJson } from "../../model/chat-json.ts";
import { addUsage } from "../../model/usage.ts";
import type { JudgeFault } from "../judge.ts";
import { faultOf } from "../model-fault.ts";

const MAX_TOKENS = 2000;

/** One question with the shape of its answer. */
interface Question<T> {
  /** What it is for, as in the account of what was spent. */
  readonly role: "rubric" | "explore" | "judge" | "verify";
  readonly name: string;
  readonly schema: z.ZodType<T>;
  readonly messages: readonly ChatMessage[];
  /** Varied to get another opinion; default 0. */
  readonly seed?: number;
}

/** Asks the model and returns a checked answer. Rejects with a `JudgeStop`, or with the signal's reason. */
export type Ask = <T>(question: Question<T>) => Promise<T>;

/** The judge cannot go on; nothing of it is the app's doing. */
export class JudgeStop extends Error {
  readonly fault: JudgeFault;

  constructor(fault: JudgeFault, options?: ErrorOptions) {
    super(fault.text, options);
    this.name = "JudgeStop";
    this.fault = fault;
  }
}

/** Where the calls of one check belong. */
export interface AskOptions {
  readonly model: ChatModel;
  readonly context: Omit<CallContext, "role">;
}

/** Makes an `Ask` with an account of what its calls took. An answer that does not fit its schema is asked for again, twice at most. */
export function createAsk({ model, context }: AskOptions): {
  readonly ask: Ask;
  readonly usage: () => ModelUsage | null;
} {
  const usages: ModelUsage[] = [];
  const ask: Ask = async ({ role, name, schema, messages, seed = 0 }) => {
    const request = { messages, maxTokens: MAX_TOKENS, temperature: 0, seed, json: { name, schema } };
    try {
      const answer = await chatJson(model, request, { ...context, role });
      usages.push(answer.usage);
      return answer.value;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      usages.push(error.usage);
      throw new JudgeStop(faultOf(error), { cause: error });
    }
  };
  return { ask, usage: () => addUsage(usages) };
}
