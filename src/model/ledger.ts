import { ModelError, type CallContext, type FiredLimit, type ModelUsage } from "./chat.ts";
import type { CallEstimate } from "./estimate.ts";

/** Bounds on what is spent; an absent one does not bound. Counted from the opening of the model, after what was spent before. */
export interface UsageLimits {
  /** Input and output tokens together. */
  readonly tokensPerCheck?: number | undefined;
  readonly tokensPerApp?: number | undefined;
  readonly tokens?: number | undefined;
  readonly usdPerCheck?: number | undefined;
  readonly usdPerApp?: number | undefined;
  readonly usd?: number | undefined;
}

/** What an app's checks took before the model was opened, as a trace tells it; counts per app and run. */
export interface SpentBefore {
  /** As in `CallContext`. */
  readonly app: string;
  /** Input and output together. */
  readonly tokens: number;
  readonly usd: number;
}

/** What was spent, and what may be. */
export interface Ledger {
  /**
   * Lets a call begin, or waits while calls under way could use up what is left. So at most one call passes a limit. Resolves
   * with what books the call; rejects with a `ModelError` "budget", or with the signal's reason.
   */
  admit(context: CallContext, estimate: CallEstimate, signal: AbortSignal): Promise<(usage: ModelUsage) => void>;
}

interface Account {
  readonly per: FiredLimit["per"];
  readonly limits: Readonly<Record<FiredLimit["unit"], number>>;
  readonly spent: Record<FiredLimit["unit"], number>;
  readonly reserved: Record<FiredLimit["unit"], number>;
  underWay: number;
}

const UNITS = ["tokens", "usd"] as const;
const NOTHING: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** A ledger with these limits, per check, app and run. */
export function createLedger(limits: UsageLimits, before: readonly SpentBefore[] = []): Ledger {
  const accounts = new Map<string, Account>();
  const waiting = new Set<() => void>();
  const account = (key: string, per: Account["per"], bounds: readonly (number | undefined)[]): Account => {
    const [tokens = Number.POSITIVE_INFINITY, usd = Number.POSITIVE_INFINITY] = bounds;
    const made: Account = accounts.get(key) ?? {
      per,
      limits: { tokens, usd },
      spent: { tokens: 0, usd: 0 },
      reserved: { tokens: 0, usd: 0 },
      underWay: 0,
    };
    accounts.set(key, made);
    return made;
  };
  const accountsOfApp = (app: string): readonly Account[] => [
    account(JSON.stringify([app]), "app", [limits.tokensPerApp, limits.usdPerApp]),
    account("[]", "run", [limits.tokens, limits.usd]),
  ];
  const accountsOf = ({ app, check }: CallContext): readonly Account[] => [
    account(JSON.stringify([app, check]), "check", [limits.tokensPerCheck, limits.usdPerCheck]),
    ...accountsOfApp(app),
  ];
  for (const { app, ...took } of before) {
    for (const { spent } of accountsOfApp(app)) for (const unit of UNITS) spent[unit] += took[unit];
  }
  const settle = (booked: readonly Account[], estimate: CallEstimate, usage: ModelUsage): void => {
    const took = spentBy(usage, estimate);
    for (const one of booked) {
      one.underWay -= 1;
      for (const unit of UNITS) {
        one.reserved[unit] -= estimate.expected[unit];
        one.spent[unit] += took[unit];
      }
    }
    const woken = [...waiting];
    waiting.clear();
    for (const wake of woken) wake();
  };
  return {
    async admit(context, estimate, signal) {
      const booked = accountsOf(context);
      for (;;) {
        signal.throwIfAborted();
        refuse(booked, estimate, context);
        if (booked.every((one) => fits(one, estimate))) break;
        await nextSettled(waiting, signal);
      }
      for (const one of booked) {
        one.underWay += 1;
        for (const unit of UNITS) one.reserved[unit] += estimate.expected[unit];
      }
      return (usage) => settle(booked, estimate, usage);
    },
  };
}

function refuse(booked: readonly Account[], estimate: CallEstimate, { app, check }: CallContext): void {
  for (const { per, limits, spent } of booked) {
    for (const unit of UNITS) {
      const [limit, measured] = [limits[unit], spent[unit]];
      if (measured < limit && measured + estimate.atLeast[unit] <= limit) continue;
      const where = { check: ` ${check} of ${app}`, app: ` ${app}`, run: "" }[per];
      throw new ModelError(
        "budget",
        `the limit of ${limit} ${unit} per ${per} stopped a call: ${Number(measured.toPrecision(6))} spent on the ${per}${where}`,
        { usage: NOTHING, limit: { unit, per, limit, measured } },
      );
    }
  }
}

// A call with nothing else under way may pass the limit by itself: how long its answer gets is known only afterwards.
function fits({ limits, spent, reserved, underWay }: Account, estimate: CallEstimate): boolean {
  return (
    underWay === 0 || UNITS.every((unit) => spent[unit] + reserved[unit] + estimate.expected[unit] <= limits[unit])
  );
}

// What an endpoint does not say is booked as expected, so that a limit also stops calls that are never counted.
function spentBy(usage: ModelUsage, { expected }: CallEstimate): CallEstimate["expected"] {
  const { inputTokens, outputTokens, costUsd } = usage;
  return {
    tokens: inputTokens === null || outputTokens === null ? expected.tokens : inputTokens + outputTokens,
    usd: costUsd ?? expected.usd,
  };
}

async function nextSettled(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      waiting.delete(wake);
      reject(signal.reason as Error);
    };
    const wake = (): void => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.add(wake);
  });
}
