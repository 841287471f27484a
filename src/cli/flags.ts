import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A whole number written in digits only: "1e3", "4x" and "" are refused, "08" is 8. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (value: string) => number {
  return (value) => {
    const parsed = /^\d+$/u.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) {
      throw new InvalidArgumentError(
        max === Number.MAX_SAFE_INTEGER
          ? `Give a whole number of at least ${min}.`
          : `Give a whole number from ${min} to ${max}.`,
      );
    }
    return parsed;
  };
}

/** A decimal number above 0, with a point: "1,5" is refused. */
export function positiveNumber(value: string): number {
  const parsed = /^\d+(?:\.\d+)?$/u.test(value) ? Number(value) : Number.NaN;
  if (!(parsed > 0)) throw new InvalidArgumentError('Give a number above 0, with a decimal point, such as "0.5".');
  return parsed;
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** A duration with its unit, such as "500ms", "30s", "5m" or "2h", in milliseconds. */
export function durationMs(value: string): number {
  const [, digits, unit] = /^(\d+)(ms|s|m|h)$/u.exec(value) ?? [];
  const parsed = Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!Number.isSafeInteger(parsed) || parsed < 1) {
    throw new InvalidArgumentError('Give a duration with its unit, such as "500ms", "30s", "5m" or "2h".');
  }
  return parsed;
}

/** One of a few words. */
export function oneOf<const W extends string>(...words: readonly W[]): (value: string) => W {
  return (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new InvalidArgumentError(`Give one of: ${words.join(", ")}.`);
    return word;
  };
}
