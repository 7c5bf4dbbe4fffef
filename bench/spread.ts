/** Median, least and most over the rounds. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number }

/** NaN all through where there is nothing. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/** Whether a sample is one of the rounds: not of a warm-up, and not of a moment in which the host was busy. */
export const isCounted = ({ round }: { readonly round?: unknown }): boolean => typeof round === 'number'
