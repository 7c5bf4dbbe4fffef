/** When an offer that failed is asked once more, where there is no other left: what passes by itself within seconds. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { limit } from '../lib/primitives/limit.ts'

/** A vendor that wants to be left alone for longer is: its client can come back by itself. */
const WAIT_MS_MAX = limit('sameOfferWaitMs', 5_000, 'If the last offer asks for a longer wait, it is not tried again.')
/** Between these, drawn anew each time: those that failed together must not come back together. */
const WAIT_MS = { least: 200, most: 600 }

export type RetryCandidate = {
  readonly failure: UpstreamFailure
  /** Whether a failure with this status says that nothing was made. */
  readonly isUnbilled: (status: number | undefined) => boolean
  /** In [0, 1), drawn anew at each call. */
  readonly random: () => number
}

/** How long to wait before the same offer is asked once more; undefined where it must not be. */
export function waitForSame({ failure, isUnbilled, random }: RetryCandidate): number | undefined {
  const { status, retryAfterMs = 0, isQuoted } = failure
  // Only a vendor's own word says that there is no answer: of what broke off or was silent nobody knows.
  if (!isQuoted || retryAfterMs > WAIT_MS_MAX) return undefined
  if (failure.kind === 'rate' ? failure.retryAfterMs === undefined : !isPassing(failure)) return undefined
  if (!isUnbilled(status)) return undefined
  return retryAfterMs + WAIT_MS.least + random() * (WAIT_MS.most - WAIT_MS.least)
}

const isPassing = ({ kind }: UpstreamFailure): boolean => kind === 'server' || kind === 'overload' || kind === 'timeout'
