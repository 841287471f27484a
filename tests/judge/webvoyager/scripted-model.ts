import type { ChatModel, ChatRequest, ModelUsage } from "../../../src/model/chat.ts";

/** What a scripted model sees: the text of the newest message, and the label of the element that is listed with a text. */
interface Seen {
  readonly text: string;
  readonly label: (listed: string) => number;
}

/** A reply, or what makes one from what is seen; it may throw as a model does. */
export type Line = string | ((seen: Seen) => string | Promise<string>);

export interface ScriptedModel extends ChatModel {
  readonly requests: readonly ChatRequest[];
}

export const doing = (action: string): string => `Thought: as the script says\nAction: ${action}`;
export const clickOn =
  (listed: string): Line =>
  ({ label }) =>
    doing(`Click [${label(listed)}]`);

const USAGE: ModelUsage = { calls: 1, inputTokens: 100, outputTokens: 10, costUsd: null };

function see(request: ChatRequest): Seen {
  const content = request.messages.at(-1)?.content ?? "";
  const text =
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return {
    text,
    label(listed) {
      const entry = text.split(/[\t\n]/u).find((one) => /^\[\d+\]:/u.test(one) && one.includes(listed));
      if (entry === undefined) throw new Error(`nothing listed with ${listed} in: ${text}`);
      return Number(/\d+/u.exec(entry)?.[0]);
    },
  };
}

/** A model that says its lines one after another, the last one for ever; it starts anew with each conversation. */
export function scriptedModel(lines: readonly Line[]): ScriptedModel {
  const requests: ChatRequest[] = [];
  return {
    name: "scripted",
    fingerprint: "scripted",
    requests,
    async chat(request) {
      requests.push(request);
      const said = request.messages.filter(({ role }) => role === "assistant").length;
      const line = lines[Math.min(said, lines.length - 1)] ?? "";
      const text = typeof line === "string" ? line : await line(see(request));
      return { text, finishReason: "stop", usage: USAGE, modelId: "scripted", durationMs: 1 };
    },
  };
}
