import pLimit from "p-limit";

/** Runs a check once there is room for it. */
export type Slots = <T>(task: () => Promise<T>) => Promise<T>;

/** Room for checks, with a stop that lets the checks under way end. */
export interface CheckSlots {
  readonly slots: Slots;
  /** Aborts with `signal`, or once `pause` came and no check is under way. */
  readonly signal: AbortSignal;
}

/** Room for `atOnce` checks over all apps. After `pause` no further check begins. */
export function openCheckSlots(atOnce: number, signal: AbortSignal, pause?: AbortSignal): CheckSlots {
  const limit = pLimit(atOnce);
  const paused = new AbortController();
  const stop = AbortSignal.any([signal, paused.signal]);
  let underWay = 0;
  const settle = (): void => {
    if (pause?.aborted === true && underWay === 0) paused.abort(pause.reason);
  };
  pause?.addEventListener("abort", settle, { once: true });
  settle();
  return {
    slots: (task) =>
      limit(async () => {
        stop.throwIfAborted();
        pause?.throwIfAborted();
        underWay += 1;
        try {
          return await task();
        } finally {
          underWay -= 1;
          settle();
        }
      }),
    signal: stop,
  };
}
