/** When the last offer is tried once more: after a failure that usually passes within seconds. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { limit } from '../lib/primitives/limit.ts'

/** A vendor that asks for a longer wait is not tried again. The client can retry by itself. */
const WAIT_MS_MAX = limit('sameOfferWaitMs', 5_000, 'If the last offer asks for a longer wait, it is not tried again.')
/** The wait is random between these, so that requests that failed together do not return together. */
const WAIT_MS = { least: 200, most: 600 }

export type RetryCandidate = {
  readonly failure: UpstreamFailure
  /** Whether a failure with this status means that nothing was made. */
  readonly isUnbilled: (status: number | undefined) => boolean
  /** A new random number in [0, 1) at each call. */
  readonly random: () => number
}

/** How long to wait before the same offer is tried once more, or undefined if it must not be. */
export function waitForSame({ failure, isUnbilled, random }: RetryCandidate): number | undefined {
  const { status, retryAfterMs = 0, isQuoted } = failure
  // Only the vendor's own error says that there is no answer. After a broken or silent connection nobody knows.
  if (!isQuoted || retryAfterMs > WAIT_MS_MAX) return undefined
  if (failure.kind === 'rate' ? failure.retryAfterMs === undefined : !isPassing(failure)) return undefined
  if (!isUnbilled(status)) return undefined
  return retryAfterMs + WAIT_MS.least + random() * (WAIT_MS.most - WAIT_MS.least)
}

const isPassing = ({ kind }: UpstreamFailure): boolean => kind === 'server' || kind === 'overload' || kind === 'timeout'
