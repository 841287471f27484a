import pRetry from "p-retry";
import { EvowebError } from "../errors.ts";

const RETRIES = 2;
const FIRST_WAIT_MS = 500;

/**
 * Tries again what the infrastructure failed at (design: infra is retried with back-off, then MISSING). A full disk, a wrong
 * option or an abort does not heal by waiting and is thrown at once.
 *
 * The signal is not handed to the retry library: it would reject while the step still runs, and whatever the step then opened
 * would have no owner. Each step heeds the signal itself.
 */
export async function retryInfra<T>(step: (tryNumber: number) => Promise<T>, signal: AbortSignal): Promise<T> {
  let tries = 0;
  const counted = (tryNumber: number): Promise<T> => {
    tries = tryNumber;
    return step(tryNumber);
  };
  try {
    return await pRetry(counted, {
      retries: RETRIES,
      minTimeout: FIRST_WAIT_MS,
      factor: 4,
      shouldRetry: ({ error }) => !signal.aborted && isInfra(error) && !costly.has(error),
    });
  } catch (error) {
    if (error instanceof Error) triesByError.set(error, tries);
    throw error;
  }
}

const costly = new WeakSet<Error>();

/** Marks a fault after which a step is not tried again by itself: a model had answered, and its answers would be paid twice. */
export function notAgain<E extends Error>(error: E): E {
  costly.add(error);
  return error;
}

const triesByError = new WeakMap<Error, number>();

/** How often the step that ended with this error was tried; 1 for what is never tried again. */
export function triesOf(error: Error): number {
  return triesByError.get(error) ?? 1;
}

const HEALS: ReadonlySet<EvowebError["code"]> = new Set(["sandbox", "docker", "browser", "model"]);

/** Whether an error says that the infrastructure failed, so that what was asked stays undecided instead of failed. */
export function isInfra(error: unknown): error is EvowebError {
  return error instanceof EvowebError && HEALS.has(error.code);
}
