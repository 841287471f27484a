import type { ChatModel, ChatRequest } from "../../../src/model/chat.ts";

const usage = { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: null };
const promptOf = ({ messages }: ChatRequest): string =>
  messages
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map((part) => (part.type === "text" ? part.text : "")),
    )
    .join("\n");

/** What the model does: key points, actions from the page's text, and what it cites of every step for every point. */
export interface EvidenceScript {
  readonly points: readonly object[];
  /** One entry an interaction; a string is sent as it is. */
  readonly actions: readonly ((page: string) => readonly object[] | string)[];
  /** Quotes, each of which is cited in all steps. */
  readonly quotes: readonly { readonly kind: string; readonly quote: string }[];
}

/** Answers by the role of the call; as judge it calls all met and cites all it can, as refuter it finds nothing to say. */
export function scriptedEvidenceModel(script: EvidenceScript): ChatModel & { readonly prompts: readonly string[] } {
  let turn = 0;
  const prompts: string[] = [];
  const explore = (prompt: string): object | string => {
    const actions = script.actions[turn]?.(prompt) ?? [{ type: "finish", claims: [] }];
    turn += 1;
    return typeof actions === "string" ? actions : { actions };
  };
  const rule = (prompt: string): object => {
    const steps = [...prompt.matchAll(/^Step (\d+):/gmu)].map(([, number]) => Number(number));
    const evidence = steps.flatMap((step) => script.quotes.map((quote) => ({ step, ...quote })));
    return { points: script.points.map((_, index) => ({ id: `k${index + 1}`, status: "met", evidence })) };
  };
  return {
    name: "scripted",
    fingerprint: "scripted",
    prompts,
    chat: async (request, { role }) => {
      const prompt = promptOf(request);
      prompts.push(prompt);
      const answers: Readonly<Record<string, () => object | string>> = {
        rubric: () => ({ points: script.points }),
        explore: () => explore(prompt),
        judge: () => rule(prompt),
        verify: () => ({ points: [] }),
      };
      const answer = answers[role]?.() ?? {};
      const text = typeof answer === "string" ? answer : JSON.stringify(answer);
      return { text, finishReason: "stop", usage, modelId: "scripted", durationMs: 1 };
    },
  };
}

/** The ref of the nth line with this text. */
export const refOf = (page: string, text: string, nth = 0): string =>
  /\[((?:f\d+)*[ecx]\d+)\]/u.exec(
    page.split("\n").filter((line) => line.includes(text) && /^\s*\[(?:f\d+)*[ecx]\d/u.test(line))[nth] ?? "",
  )?.[1] ?? "e0";
