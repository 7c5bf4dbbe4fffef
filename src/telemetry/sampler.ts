/** Decides which traces are recorded, as OTEL_TRACES_SAMPLER says. */

export type Sampler = {
  /** The share of the traces that begin here, by their ids, from 0 to 1. */
  readonly ratio: number
  /** Whether the client's decision stands for a trace that a client has begun. */
  readonly followsParent: boolean
}

const RANDOM_DIGITS = 14
const RANDOM_MAX = 16 ** RANDOM_DIGITS

/** `parentSampled` is undefined for a trace that begins here. Every process with the same ratio decides alike. */
export function isSampled({ ratio, followsParent }: Sampler, traceId: string, parentSampled?: boolean): boolean {
  if (followsParent && parentSampled !== undefined) return parentSampled
  if (ratio === 0 || ratio === 1) return ratio === 1
  // The rightmost seven bytes are random (W3C Trace Context, Level 2).
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < ratio * RANDOM_MAX
}

const samplers: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => ({ ratio: 1, followsParent: false }),
  always_off: () => ({ ratio: 0, followsParent: false }),
  traceidratio: (ratio) => ({ ratio, followsParent: false }),
  parentbased_always_on: () => ({ ratio: 1, followsParent: true }),
  parentbased_always_off: () => ({ ratio: 0, followsParent: true }),
  parentbased_traceidratio: (ratio) => ({ ratio, followsParent: true }),
}

export const samplerNames: readonly string[] = Object.keys(samplers)

/** Undefined if there is no sampler of that name. */
export const samplerOf = (name: string, ratio: number): Sampler | undefined =>
  Object.hasOwn(samplers, name) ? samplers[name]?.(ratio) : undefined
