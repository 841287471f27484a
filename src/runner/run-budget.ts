import type { TraceEvent } from "../trace/event.ts";

/** Bounds of a run over agent and judge together; an absent one does not bind. */
export interface RunLimits {
  readonly budgetUsd?: number | undefined;
  readonly budgetTokens?: number | undefined;
  /** Wall time of this process, in milliseconds. */
  readonly deadlineMs?: number | undefined;
}

/** What an app takes: US dollars, tokens, wall time. What nobody reported is not in it. */
interface Taken {
  readonly usd: number;
  readonly tokens: number;
  readonly ms: number;
}

/** Watches what a run takes and says who may begin or go on. */
export interface RunBudget {
  /** Counts an event; those before this process too, so that money is counted over all of them. */
  note(event: TraceEvent): void;
  /** Why no app may begin now, or null; then what an app is expected to take is reserved until `release`. */
  admit(sampleIndex: number): string | null;
  /** Gives back what was reserved and not spent. */
  release(sampleIndex: number): void;
  /** Why an app that is under way must stop before its next request, or null. */
  stopCause(): string | null;
  /** Mean of the apps that are finished; null before the first. */
  forecast(): Taken | null;
}

const NOTHING: Taken = { usd: 0, tokens: 0, ms: 0 };

const plus = (a: Taken, b: Taken): Taken => ({ usd: a.usd + b.usd, tokens: a.tokens + b.tokens, ms: a.ms + b.ms });

function takenBy(event: TraceEvent): Taken {
  if (event.type === "request_finished") return { ...NOTHING, ms: event.durationMs ?? 0 };
  if (event.type !== "agent_finished" && event.type !== "check_judged") return NOTHING;
  const { inputTokens = 0, outputTokens = 0 } = event.usage ?? {};
  return { usd: event.costUsd ?? 0, tokens: inputTokens + outputTokens, ms: 0 };
}

/** A budget with these limits; `elapsedMs` tells a monotonic time since the process began the run. */
export function createRunBudget(limits: RunLimits, elapsedMs: () => number): RunBudget {
  const max = {
    usd: limits.budgetUsd ?? Number.POSITIVE_INFINITY,
    tokens: limits.budgetTokens ?? Number.POSITIVE_INFINITY,
    ms: limits.deadlineMs ?? Number.POSITIVE_INFINITY,
  };
  const byApp = new Map<number, Taken>();
  const finished = new Set<number>();
  const open = new Set<number>();
  const sum = (parts: Iterable<Taken>): Taken => [...parts].reduce(plus, NOTHING);
  const forecast = (): Taken | null => {
    const done = [...finished].map((app) => byApp.get(app) ?? NOTHING);
    if (done.length === 0) return null;
    const { usd, tokens, ms } = sum(done);
    return { usd: usd / done.length, tokens: tokens / done.length, ms: ms / done.length };
  };
  // What an app under way is still expected to take, over what it has taken.
  const rest = (app: number, expected: Taken): Taken => {
    const own = byApp.get(app) ?? NOTHING;
    return {
      usd: Math.max(0, expected.usd - own.usd),
      tokens: Math.max(0, expected.tokens - own.tokens),
      ms: Math.max(0, expected.ms - own.ms),
    };
  };
  const stopCause = (): string | null => {
    const spent = sum(byApp.values());
    if (spent.usd >= max.usd) return `budget: ${spent.usd.toFixed(4)} of ${max.usd} US dollars are spent`;
    if (spent.tokens >= max.tokens) return `budget: ${spent.tokens} of ${max.tokens} tokens are used`;
    return elapsedMs() >= max.ms ? `budget: the deadline of ${max.ms} ms has passed` : null;
  };
  return {
    note(event) {
      byApp.set(event.sampleIndex, plus(byApp.get(event.sampleIndex) ?? NOTHING, takenBy(event)));
      if (event.type === "app_finished" && event.status === "complete") finished.add(event.sampleIndex);
    },
    admit(sampleIndex) {
      const cause = stopCause();
      if (cause !== null) return cause;
      const expected = forecast();
      if (expected !== null) {
        const others = sum([...open].map((app) => rest(app, expected)));
        const needed = plus(plus(sum(byApp.values()), others), rest(sampleIndex, expected));
        if (needed.usd > max.usd)
          return `budget: ${needed.usd.toFixed(4)} US dollars are expected, ${max.usd} may be spent`;
        if (needed.tokens > max.tokens)
          return `budget: ${Math.ceil(needed.tokens)} tokens are expected, ${max.tokens} may be used`;
        const until = elapsedMs() + rest(sampleIndex, expected).ms;
        if (until > max.ms)
          return `budget: an app takes about ${Math.ceil(expected.ms)} ms, more than is left to the deadline`;
      }
      open.add(sampleIndex);
      return null;
    },
    release: (sampleIndex) => void open.delete(sampleIndex),
    stopCause,
    forecast,
  };
}
