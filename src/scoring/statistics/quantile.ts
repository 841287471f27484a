/** Hoare's partition of `values[left..right]`: up to the first place given none is above the pivot, from the second none below. */
function partition(values: Float64Array, left: number, right: number): readonly [high: number, low: number] {
  const pivot = values[(left + right) >>> 1] ?? 0;
  let low = left;
  let high = right;
  while (low <= high) {
    while ((values[low] ?? 0) < pivot) low += 1;
    while ((values[high] ?? 0) > pivot) high -= 1;
    if (low > high) break;
    const value = values[low] ?? 0;
    values[low] = values[high] ?? 0;
    values[high] = value;
    low += 1;
    high -= 1;
  }
  return [high, low];
}

/** Brings the value of rank `rank` to its place, none larger before it and none smaller after it. */
function selectRank(values: Float64Array, rank: number): number {
  let left = 0;
  let right = values.length - 1;
  while (left < right) {
    const [high, low] = partition(values, left, right);
    if (rank <= high) right = high;
    else if (rank >= low) left = low;
    else break;
  }
  return values[rank] ?? 0;
}

/** The quantile at `share` (0 to 1) of at least one finite value, linear between ranks as NumPy does by default. Reorders the values. */
export function quantile(values: Float64Array, share: number): number {
  const place = (values.length - 1) * share;
  const rank = Math.floor(place);
  const below = selectRank(values, rank);
  if (place === rank) return below;
  let above = Infinity;
  for (let index = rank + 1; index < values.length; index += 1) above = Math.min(above, values[index] ?? above);
  return below + (place - rank) * (above - below);
}
