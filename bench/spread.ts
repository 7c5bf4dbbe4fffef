/** Median, minimum and maximum over the rounds. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number }

/** All NaN if there are no values. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/** Whether a sample belongs to a round: not to a warm-up, and not to a moment in which the host was busy. */
export const isCounted = ({ round }: { readonly round?: unknown }): boolean => typeof round === 'number'
