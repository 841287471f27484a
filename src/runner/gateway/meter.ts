import type { FiredLimit, Usage } from "../../trace/event.ts";
import type { LlmCall } from "./llm-call.ts";

/** Bounds of model use; an absent one does not bind. */
export interface Budget {
  readonly calls?: number | undefined;
  /** Input and output together. */
  readonly tokens?: number | undefined;
  /** US dollars; binds only as far as prices are known. */
  readonly usd?: number | undefined;
}

/** Bounds by what they count over. */
export interface Budgets {
  readonly request: Budget;
  readonly app: Budget;
  readonly run: Budget;
}

/** Counts what calls took. Numbers that an endpoint did not give are in no sum. */
export class Meter {
  #calls = 0;
  #inputTokens = 0;
  #cachedInputTokens = 0;
  #outputTokens = 0;
  #costUsd = 0;
  #answered = 0;
  #unpriced = 0;
  #unreported = 0;

  /** A call is counted when it begins, so that a limit holds also for calls made at the same time. */
  begin(): void {
    this.#calls += 1;
  }

  /** What a call took, once it has ended. */
  end({ usage, costUsd, hasOutput }: Pick<LlmCall, "usage" | "costUsd" | "hasOutput">): void {
    if (hasOutput) {
      this.#answered += 1;
      if (usage === null) this.#unreported += 1;
    }
    if (usage === null) return;
    this.#inputTokens += usage.inputTokens;
    this.#cachedInputTokens += usage.cachedInputTokens;
    this.#outputTokens += usage.outputTokens;
    if (costUsd === null) this.#unpriced += 1;
    else this.#costUsd += costUsd;
  }

  /** Adds what was spent before this process, as a trace tells it. */
  resume({ usage, costUsd }: { readonly usage: Usage | null; readonly costUsd: number | null }): void {
    this.#calls += usage?.calls ?? 0;
    this.#inputTokens += usage?.inputTokens ?? 0;
    this.#outputTokens += usage?.outputTokens ?? 0;
    this.#costUsd += costUsd ?? 0;
  }

  /** How many calls got any piece of a completion. */
  get answered(): number {
    return this.#answered;
  }

  get usage(): Usage {
    if (this.#answered > 0 && this.#unreported === this.#answered) return { calls: this.#calls };
    return {
      calls: this.#calls,
      inputTokens: this.#inputTokens,
      cachedInputTokens: this.#cachedInputTokens,
      outputTokens: this.#outputTokens,
    };
  }

  /** US dollars; null as soon as one answer's price or usage is unknown. */
  get costUsd(): number | null {
    return this.#unpriced > 0 || this.#unreported > 0 ? null : this.#costUsd;
  }

  /** The limit that forbids another call, or null. */
  fired(budget: Budget, scope: keyof Budgets): FiredLimit | null {
    const measured = [
      { clock: "llm_calls", value: this.#calls, max: budget.calls },
      { clock: "tokens", value: this.#inputTokens + this.#outputTokens, max: budget.tokens },
      { clock: "cost_usd", value: this.#costUsd, max: budget.usd },
    ];
    for (const { clock, value, max } of measured) {
      if (max !== undefined && value >= max) return { clock, value, max, scope };
    }
    return null;
  }
}
