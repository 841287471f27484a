import type { TraceEvent } from "./event.ts";
import type { CountedApp } from "./observe-app.ts";

/** What turns, or judgements, took together. */
export interface Share {
  /** How many there were. */
  readonly count: number;
  /** How many of them reported no usage; their tokens are in no sum. */
  readonly unreported: number;
  /** Null when none reported any. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly calls: number | null;
  /** Null when none reported any. */
  readonly costUsd: number | null;
  /** Sum of their own durations, without pauses such as the days before a resume; null when that of any is unknown. */
  readonly durationMs: number | null;
}

/** Turns of the agent and judgements of the judge. */
export interface Spend {
  readonly agent: Share;
  readonly judge: Share;
}

/** What the counted attempts took, and what all attempts took. */
export interface Effort {
  readonly counted: Spend;
  readonly spent: Spend;
}

type Work = Extract<TraceEvent, { type: "agent_finished" | "check_judged" }>;

type MutableShare = { -readonly [Key in keyof Share]: Share[Key] };

function nothing(): MutableShare {
  return {
    count: 0,
    unreported: 0,
    inputTokens: null,
    outputTokens: null,
    calls: null,
    costUsd: null,
    durationMs: 0,
  };
}

function plus(a: number | null, b: number | null | undefined): number | null {
  return b === null || b === undefined ? a : (a ?? 0) + b;
}

/** A sum of durations is wrong, not smaller, when a part of it is unknown. */
function both(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function addWork(share: MutableShare, event: Work): void {
  const { usage } = event;
  share.count += 1;
  share.durationMs = both(share.durationMs, event.durationMs);
  share.costUsd = plus(share.costUsd, event.costUsd);
  if (usage === null) {
    share.unreported += 1;
    return;
  }
  share.inputTokens = plus(share.inputTokens, usage.inputTokens);
  share.outputTokens = plus(share.outputTokens, usage.outputTokens);
  share.calls = plus(share.calls, usage.calls);
}

function addShares(a: Share, b: Share): Share {
  return {
    count: a.count + b.count,
    unreported: a.unreported + b.unreported,
    inputTokens: plus(a.inputTokens, b.inputTokens),
    outputTokens: plus(a.outputTokens, b.outputTokens),
    calls: plus(a.calls, b.calls),
    costUsd: plus(a.costUsd, b.costUsd),
    durationMs: both(a.durationMs, b.durationMs),
  };
}

function addSpends(a: Spend, b: Spend): Spend {
  return { agent: addShares(a.agent, b.agent), judge: addShares(a.judge, b.judge) };
}

function spendOf(events: readonly TraceEvent[]): Spend {
  const spend = { agent: nothing(), judge: nothing() };
  for (const event of events) {
    if (event.type === "check_judged") addWork(spend.judge, event);
    else if (event.type === "agent_finished") addWork(spend.agent, event);
  }
  return spend;
}

/** What one app took. */
export function effortOf(events: readonly TraceEvent[], counted: CountedApp): Effort {
  const spent = spendOf(events);
  // Nearly always everything counts, and then there is nothing to add up twice.
  const isAll = counted.work.length === spent.agent.count + spent.judge.count;
  return { counted: isAll ? spent : spendOf(counted.work), spent };
}

/** What several apps took together. */
export function sumEfforts(efforts: readonly Effort[]): Effort {
  const none: Spend = { agent: nothing(), judge: nothing() };
  return efforts.reduce<Effort>(
    (sum, effort) => ({ counted: addSpends(sum.counted, effort.counted), spent: addSpends(sum.spent, effort.spent) }),
    { counted: none, spent: none },
  );
}
