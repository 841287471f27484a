import type { ModelUsage } from "./chat.ts";

const sum = (values: readonly (number | null)[]): number | null =>
  values.includes(null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** What several calls took together; a number that one of them does not know is unknown. Null when there was none. */
export function addUsage(usages: readonly (ModelUsage | undefined)[]): ModelUsage | null {
  const known = usages.filter((usage) => usage !== undefined);
  if (known.length === 0) return null;
  return {
    calls: known.reduce((total, { calls }) => total + calls, 0),
    inputTokens: sum(known.map(({ inputTokens }) => inputTokens)),
    outputTokens: sum(known.map(({ outputTokens }) => outputTokens)),
    costUsd: sum(known.map(({ costUsd }) => costUsd)),
  };
}
