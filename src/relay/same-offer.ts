/** When an offer that failed is asked once more, where there is no other left: what passes by itself within seconds. */
import type { ModelKind } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'

/** A vendor that wants to be left alone for longer is: its client can come back by itself. */
const WAIT_MS_MAX = 5_000
/** Between these, drawn anew each time: those that failed together must not come back together. */
const WAIT_MS = { least: 200, most: 600 }

/**
 * Statuses by which a vendor, or a proxy before it, says that it gave no answer. Without 504, 524 and the like: there
 * the vendor may be at work, and bill for it.
 */
const UNANSWERED = new Set([408, 429, 498, 500, 502, 503, 520, 521, 522, 523, 529])
/** Statuses by which it did not even begin: an image is billed once it is made. */
const NOT_BEGUN = new Set([408, 429, 498, 503, 529])

export type RetryCandidate = {
  readonly failure: UpstreamFailure
  readonly kind: ModelKind
  /** In [0, 1), drawn anew at each call. */
  readonly random: () => number
}

/** How long to wait before the same offer is asked once more; undefined where it must not be. */
export function waitForSame({ failure, kind, random }: RetryCandidate): number | undefined {
  const { status, retryAfterMs = 0, isQuoted } = failure
  // Only a vendor's own word says that there is no answer: of what broke off or was silent nobody knows.
  if (!isQuoted || retryAfterMs > WAIT_MS_MAX) return undefined
  if (failure.kind === 'rate' ? failure.retryAfterMs === undefined : !isPassing(failure)) return undefined
  const known = status ?? (kind === 'image' ? 500 : 503)
  if (!(kind === 'image' ? NOT_BEGUN : UNANSWERED).has(known)) return undefined
  return retryAfterMs + WAIT_MS.least + random() * (WAIT_MS.most - WAIT_MS.least)
}

const isPassing = ({ kind }: UpstreamFailure): boolean => kind === 'server' || kind === 'overload' || kind === 'timeout'
