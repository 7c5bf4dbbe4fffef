/** Figures of a simulation. */
import type { SimOutcome } from './simulation.ts'

const percentileOf = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export type Figures = {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly answered: number
  readonly callsPerRequest: number
  readonly costUsd: number
  /** The share of the requests that continue a conversation and found its cache. */
  readonly cacheHits: number
  /** The share of those that left an offer which was there. */
  readonly movedInVain: number
}

export function figuresOf(outcomes: readonly SimOutcome[]): Figures {
  const times = outcomes.flatMap(({ firstEventMs }) => firstEventMs ?? [])
  const continued = outcomes.filter(({ cache }) => cache !== 'none')
  const shareOf = (some: readonly SimOutcome[], all: readonly SimOutcome[]): number =>
    all.length === 0 ? 0 : some.length / all.length
  return {
    p50Ms: percentileOf(times, 0.5),
    p95Ms: percentileOf(times, 0.95),
    p99Ms: percentileOf(times, 0.99),
    answered: times.length / outcomes.length,
    callsPerRequest: outcomes.reduce((sum, { attempts }) => sum + attempts, 0) / outcomes.length,
    costUsd: outcomes.reduce((sum, { costUsd }) => sum + costUsd, 0),
    cacheHits: shareOf(
      continued.filter(({ cache }) => cache === 'hit'),
      continued,
    ),
    movedInVain: shareOf(
      continued.filter((one) => one.movedInVain),
      continued,
    ),
  }
}

/** The share of each vendor in each span of time. */
export function sharesOverTime(
  outcomes: readonly SimOutcome[],
  vendors: readonly string[],
  spanMs: number,
): readonly (readonly number[])[] {
  const spans = Math.ceil(((outcomes.at(-1)?.atMs ?? 0) + 1) / spanMs)
  const counts = Array.from({ length: spans }, () => vendors.map(() => 0))
  for (const { atMs, vendor } of outcomes) {
    const span = counts[Math.floor(atMs / spanMs)]
    const at = vendor === undefined ? -1 : vendors.indexOf(vendor)
    if (span && at !== -1) span[at] = (span[at] ?? 0) + 1
  }
  return counts.map((span) => {
    const all = span.reduce((sum, count) => sum + count, 0)
    return span.map((count) => (all === 0 ? 0 : count / all))
  })
}
