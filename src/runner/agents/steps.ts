import type { AtifStep } from "../../trace/atif.ts";

/** One answer of an agent, as far as its output tells. */
export interface AgentAnswer {
  readonly text: string;
  /** Empty when it showed none. */
  readonly thinking?: string;
  readonly model?: string;
  readonly calls?: readonly AgentCall[];
}

/** One call of a tool. */
interface AgentCall {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** Absent when no result was seen. */
  readonly result?: string;
}

/** An answer as an ATIF step; its number is set later. */
export function stepOf({ text, thinking = "", model, calls = [] }: AgentAnswer): AtifStep {
  const results = calls.flatMap(({ id, result }) =>
    result === undefined ? [] : [{ source_call_id: id, content: result }],
  );
  return {
    step_id: 1,
    source: "agent",
    message: text,
    ...(model === undefined ? {} : { model_name: model }),
    ...(thinking === "" ? {} : { reasoning_content: thinking }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, args }) => ({ tool_call_id: id, function_name: name, arguments: args })),
        }),
    ...(results.length === 0 ? {} : { observation: { results } }),
  };
}

/** The texts among the parts of a message. */
export function joinTexts(parts: readonly { readonly type: string; readonly text?: string | undefined }[]): string {
  return parts.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])).join("\n");
}
