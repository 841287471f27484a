import type { Share, Spend } from "../trace/effort.ts";
import { formatCount, formatDuration } from "./format.ts";
import type { ScoredSource } from "./score-source.ts";

function totalTokens(share: Share): number | null {
  if (share.inputTokens === null && share.outputTokens === null) return null;
  return (share.inputTokens ?? 0) + (share.outputTokens ?? 0);
}

function shareText(name: string, share: Share): string {
  const tokens = totalTokens(share);
  const cost = share.costUsd === null ? "cost unknown" : `$${share.costUsd.toFixed(2)}`;
  const silent = share.unreported > 0 && tokens !== null ? ` (${share.unreported} without usage)` : "";
  const time = share.durationMs === null ? "time unknown" : formatDuration(share.durationMs);
  const usage =
    tokens === null && share.costUsd === null ? "no usage reported" : `${formatCount(tokens)} tokens, ${cost}`;
  return `${formatCount(share.count)} ${name}${share.count === 1 ? "" : "s"}, ${time}, ${usage}${silent}`;
}

function spendText({ agent, judge }: Spend): string {
  return `${shareText("turn", agent)}; ${shareText("judgement", judge)}`;
}

/** What a run took: work time (pauses are none), tokens and cost; counted and spent apart where they differ. */
export function effortLines({ effort }: ScoredSource): string[] {
  if (effort === null) return [];
  const { counted, spent } = effort;
  const { agent, judge } = spent;
  const isTimed = agent.durationMs !== null && judge.durationMs !== null;
  const work = isTimed ? formatDuration((agent.durationMs ?? 0) + (judge.durationMs ?? 0)) : "unknown time";
  const lines = [`Work     ${work} of turns and judging`, `Counted  ${spendText(counted)}`];
  const isAllCounted = counted.agent.count === spent.agent.count && counted.judge.count === spent.judge.count;
  return isAllCounted ? lines : [...lines, `Spent    ${spendText(spent)}`];
}
