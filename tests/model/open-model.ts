import type { CallContext, ChatRequest } from "../../src/model/chat.ts";
import { openChatModel, type ChatModelOptions, type OpenChatModel } from "../../src/model/open-chat-model.ts";
import { ModelError } from "../../src/model/chat.ts";
import { openScriptedServer, type Script, type ScriptedServer } from "./scripted-server.ts";

/** A price of one dollar per million input and ten per million output tokens, so that costs are easy to check. */
export const PRICES = { scripted: { inputUsdPerMillion: 1, outputUsdPerMillion: 10 } };

/** Where a test's calls belong. */
export const context = (given: Partial<CallContext> = {}): CallContext => ({
  role: "judge",
  app: "app-1",
  check: "1.1",
  sample: "1.1",
  timeoutMs: 5_000,
  signal: new AbortController().signal,
  ...given,
});

/** A short question. */
export const question = (given: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content: "Is it there?" }],
  maxTokens: 100,
  ...given,
});

/** A model in front of a scripted server, with waits that are short enough for tests. */
export interface ScriptedModel extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly model: OpenChatModel;
}

/** Starts a scripted server and opens a model on it. */
export async function openScriptedModel(
  script: Script,
  options: Partial<ChatModelOptions> = {},
): Promise<ScriptedModel> {
  const server = await openScriptedServer(script);
  const model = openChatModel({
    name: "scripted",
    baseUrl: server.baseUrl,
    apiKey: "key-of-the-test",
    prices: PRICES,
    retry: { firstWaitMs: 1, retries: 2 },
    ...options,
  });
  return {
    server,
    model,
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The `ModelError` that a call fails with; throws when it does not. */
export async function failureOf(call: Promise<unknown>): Promise<ModelError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error("the call was expected to fail");
}
