/** Holm's step-down adjustment of p-values that are looked at together; in the order given. */
export function holm(pValues: readonly number[]): number[] {
  const adjusted = pValues.map(() => 1);
  let largest = 0;
  const ranked = [...pValues.entries()].sort(([, a], [, b]) => a - b);
  for (const [rank, [index, p]] of ranked.entries()) {
    largest = Math.max(largest, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = largest;
  }
  return adjusted;
}
