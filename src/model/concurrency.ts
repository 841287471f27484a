/** A change of how many calls may be under way at a time. */
export interface LimitChange {
  /** Since the limit was made. */
  readonly atMs: number;
  readonly limit: number;
  readonly reason: "start" | "grow" | "cut";
}

/** How an adaptive limit behaves. */
export interface ConcurrencyOptions {
  /** Default 4. */
  readonly start?: number;
  /** Default 32. */
  readonly max?: number;
  /** After a cut there is no second one for so long: the calls that were under way all report the same episode. Default 10 s. */
  readonly cooldownMs?: number;
  /** Milliseconds of a clock that never goes back; default: the process's. */
  readonly now?: () => number;
}

/** How many calls may be under way at one endpoint and account. */
export interface Concurrency {
  /** Waits for a place; resolves with what gives it back. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<() => void>;
  /** A call went well: after as many in a row as there are places, with all of them in use, there is one place more. */
  wentWell(): void;
  /** The endpoint said that there were too many: half the places are left. */
  wasLimited(): void;
  /** Oldest first; starts with the limit at the start. */
  readonly history: readonly LimitChange[];
}

/** A limit that starts small, grows while calls go well and places are short, and is cut once for each rate-limit episode. */
export function createConcurrency(options: ConcurrencyOptions, listen: (change: LimitChange) => void): Concurrency {
  const { start = 4, max = 32, cooldownMs = 10_000, now = () => performance.now() } = options;
  const startedAt = now();
  const history: LimitChange[] = [];
  const waiting: (() => void)[] = [];
  let [limit, active, cleanInRow, lastCutAt] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  const change = (to: number, reason: LimitChange["reason"]): void => {
    cleanInRow = 0;
    if (to === limit) return;
    limit = to;
    const made = { atMs: Math.round(now() - startedAt), limit, reason };
    history.push(made);
    listen(made);
  };
  const admit = (): void => {
    while (active < limit && waiting.length > 0) {
      active += 1;
      waiting.shift()?.();
    }
  };
  const release = (): void => {
    active -= 1;
    admit();
  };
  change(start, "start");
  return {
    history,
    async acquire(signal) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(enter), 1);
          reject(signal.reason as Error);
        };
        const enter = (): void => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        };
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.push(enter);
        admit();
      });
      return release;
    },
    wentWell() {
      cleanInRow = active >= limit ? cleanInRow + 1 : 0;
      if (cleanInRow >= limit && limit < max) change(limit + 1, "grow");
      admit();
    },
    wasLimited() {
      cleanInRow = 0;
      if (now() - lastCutAt < cooldownMs) return;
      lastCutAt = now();
      change(Math.max(1, Math.floor(limit / 2)), "cut");
    },
  };
}
