/**
 * What one answer consumed, in disjoint buckets: each token is counted in exactly one. Vendors disagree on whether
 * cached or reasoning tokens are part of the totals, so only `formats/<format>/usage.ts` builds a Usage.
 */
export type Usage = {
  readonly inputFresh: number
  readonly inputCached: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly outputText: number
  readonly outputReasoning: number
  /** Tokens of images, if a vendor counts them separately. */
  readonly inputImage?: number
  readonly outputImage?: number
  /** What is sold by the piece. */
  readonly pieces?: readonly Pieces[]
}

/** The length of a request in tokens: its approximate input, and the most output. */
export type RequestLength = { readonly inputTokens: number; readonly outputTokens: number }

/** The name of an image or a second of video on a price card: `piece:image/1024x1024/high`, `piece:second/720p`. */
export type PieceUnit = `piece:${string}`
export type Pieces = { readonly unit: PieceUnit; readonly count: number }

/** The buckets in the order in which price lines are shown. */
export const usageBuckets = [
  'inputFresh',
  'inputCached',
  'cacheWrite5m',
  'cacheWrite1h',
  'outputText',
  'outputReasoning',
  'inputImage',
  'outputImage',
] as const satisfies readonly (keyof Usage)[]

export type UsageBucket = (typeof usageBuckets)[number]

export const inputTokens = (usage: Usage): number =>
  usage.inputFresh + usage.inputCached + usage.cacheWrite5m + usage.cacheWrite1h + (usage.inputImage ?? 0)

export const outputTokens = (usage: Usage): number =>
  usage.outputText + usage.outputReasoning + (usage.outputImage ?? 0)

/** Whether two usages are the same in every bucket and piece. */
export const sameUsage = (a: Usage, b: Usage): boolean =>
  usageBuckets.every((bucket) => (a[bucket] ?? 0) === (b[bucket] ?? 0)) &&
  (a.pieces === b.pieces || JSON.stringify(a.pieces ?? []) === JSON.stringify(b.pieces ?? []))

/** The source of a Usage: reported by the upstream, or counted by the gateway because the upstream reported none. */
export type UsageSource = 'reported' | 'estimated'
