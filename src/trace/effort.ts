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
  /** Sum of their own durations; pauses between them, such as the days before a resume, are not in it. */
  readonly durationMs: number;
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

const NOTHING: Share = {
  count: 0,
  unreported: 0,
  inputTokens: null,
  outputTokens: null,
  calls: null,
  costUsd: null,
  durationMs: 0,
};

function plus(a: number | null, b: number | null | undefined): number | null {
  return b === null || b === undefined ? a : (a ?? 0) + b;
}

function addWork(share: Share, event: Work): Share {
  const { usage } = event;
  return {
    count: share.count + 1,
    unreported: share.unreported + (usage === null ? 1 : 0),
    inputTokens: plus(share.inputTokens, usage?.inputTokens),
    outputTokens: plus(share.outputTokens, usage?.outputTokens),
    calls: plus(share.calls, usage?.calls),
    costUsd: event.type === "agent_finished" ? plus(share.costUsd, event.costUsd) : share.costUsd,
    durationMs: share.durationMs + event.durationMs,
  };
}

function addShares(a: Share, b: Share): Share {
  return {
    count: a.count + b.count,
    unreported: a.unreported + b.unreported,
    inputTokens: plus(a.inputTokens, b.inputTokens),
    outputTokens: plus(a.outputTokens, b.outputTokens),
    calls: plus(a.calls, b.calls),
    costUsd: plus(a.costUsd, b.costUsd),
    durationMs: a.durationMs + b.durationMs,
  };
}

function addSpends(a: Spend, b: Spend): Spend {
  return { agent: addShares(a.agent, b.agent), judge: addShares(a.judge, b.judge) };
}

function spendOf(turns: readonly Work[], judgements: readonly Work[]): Spend {
  return { agent: turns.reduce(addWork, NOTHING), judge: judgements.reduce(addWork, NOTHING) };
}

/** What one app took. */
export function effortOf(events: readonly TraceEvent[], counted: CountedApp): Effort {
  const turns = events.filter((event) => event.type === "agent_finished");
  const judgements = events.filter((event) => event.type === "check_judged");
  return { counted: spendOf(counted.turns, counted.judgements), spent: spendOf(turns, judgements) };
}

/** What several apps took together. */
export function sumEfforts(efforts: readonly Effort[]): Effort {
  const nothing: Spend = { agent: NOTHING, judge: NOTHING };
  return efforts.reduce(
    (sum, effort) => ({ counted: addSpends(sum.counted, effort.counted), spent: addSpends(sum.spent, effort.spent) }),
    { counted: nothing, spent: nothing },
  );
}
