import { join } from "node:path";
import { z } from "zod";
import type { TraceEvent, TraceFact } from "../trace/event.ts";
import { readFileTextIfAny } from "../trace/jsonl.ts";
import { llmCallsPath } from "./agent-gateway.ts";
import type { AppTrace } from "./app-trace.ts";

/** What is needed of a line of llm-calls.jsonl. */
const ListedCall = z.object({
  attempt: z.int(),
  hasOutput: z.boolean(),
  usage: z.object({ inputTokens: z.int(), cachedInputTokens: z.int(), outputTokens: z.int() }).nullable(),
  costUsd: z.number().nullable(),
  latencyMs: z.number(),
});
type ListedCall = z.infer<typeof ListedCall>;
type LostTurn = Extract<TraceFact, { type: "agent_finished" }>;

/**
 * Ends turns that a killed process began and could not end, where calls of the model are on record: what they took was spent,
 * and counts against budgets. Their duration is that of their calls. A call that the kill itself cut is not known to anybody.
 */
export function endLostTurns(trace: AppTrace, events: readonly TraceEvent[]): readonly LostTurn[] {
  const ended = new Set(events.flatMap((event) => (event.type === "agent_finished" ? [keyOf(event)] : [])));
  const lost: LostTurn[] = [];
  for (const event of events) {
    if (event.type !== "request_started" || ended.has(keyOf(event))) continue;
    ended.add(keyOf(event));
    const calls = callsOf(trace.dir, event.request).filter(({ attempt }) => attempt === event.attempt);
    if (calls.length === 0) continue;
    const turn = turnOf(trace, event.request, calls);
    trace.emit(event.attempt, turn);
    lost.push(turn);
  }
  return lost;
}

const keyOf = ({ request, attempt }: { readonly request: number; readonly attempt: number }): string =>
  `${request}.${attempt}`;

function callsOf(dir: string, request: number): readonly ListedCall[] {
  const text = readFileTextIfAny(join(dir, llmCallsPath(request)))?.text ?? "";
  return text.split("\n").flatMap((line) => {
    try {
      return [ListedCall.parse(JSON.parse(line))];
    } catch {
      // Empty, or torn by the kill.
      return [];
    }
  });
}

function turnOf(trace: AppTrace, request: number, calls: readonly ListedCall[]): LostTurn {
  const sum = (of: (call: ListedCall) => number): number => calls.reduce((total, call) => total + of(call), 0);
  const isPriced = calls.every(({ costUsd, hasOutput }) => costUsd !== null || !hasOutput);
  return {
    type: "agent_finished",
    request,
    status: "sandbox",
    responded: calls.some(({ hasOutput }) => hasOutput),
    exitCode: null,
    reply: null,
    usage: {
      calls: calls.length,
      inputTokens: sum(({ usage }) => usage?.inputTokens ?? 0),
      cachedInputTokens: sum(({ usage }) => usage?.cachedInputTokens ?? 0),
      outputTokens: sum(({ usage }) => usage?.outputTokens ?? 0),
    },
    costUsd: isPriced ? sum(({ costUsd }) => costUsd ?? 0) : null,
    durationMs: Math.round(sum(({ latencyMs }) => latencyMs)),
    outcome: "killed",
    llmCalls: trace.refer(llmCallsPath(request)),
  };
}
