import type { LimitViolation, SpendLimited } from './limit-status.ts'
import type { Failure } from '../domain/failure.ts'
import { formatUsd } from '../domain/money.ts'
import { usualWords, type RequestWords } from '../formats/core/request-words.ts'

/** A client that waits for another of its requests to end should look again soon. */
const CONCURRENCY_RETRY_MS = 1_000

/** Holds give back what their requests do not come to. */
const HOLDS_RETRY_MS = 2_000

/** How a request would fit: `tokens` of output there is room for, 0 where none is known. */
export type AffordableSize = { readonly words: RequestWords; readonly tokens: number }

export const adviceOf = (fitting: AffordableSize | undefined): string =>
  fitting && fitting.tokens > 0 ? ` A ${fitting.words.outputLimit} of ${fitting.tokens} would fit.` : ''

/** What a client over one of its limits is told: whose limit, how much of it, and when it is worth trying again. */
export function limitFailure(limited: LimitViolation, fitting?: AffordableSize): Failure {
  const whose = limited.scope === 'key' ? 'This key' : 'This account'
  switch (limited.kind) {
    case 'concurrency':
      return {
        kind: 'rate_limited',
        message: `${whose} may have ${limited.limit} requests in flight at once, and has.`,
        retryAfterMs: CONCURRENCY_RETRY_MS,
      }
    case 'futile':
      return {
        kind: 'rate_limited',
        message: `${whose} has had too many requests refused upstream: ${limited.limit} a minute may be. Correct them first.`,
        retryAfterMs: limited.retryAfterMs,
      }
    case 'rate': {
      const { unit, limit, retryAfterMs } = limited
      if (retryAfterMs !== undefined) {
        const left = unit === 'tokens' ? 'too few of them are left for this request' : 'none of them is left'
        return { kind: 'rate_limited', message: `${whose} may use ${limit} ${unit} a minute; ${left}.`, retryAfterMs }
      }
      const advice = `Lower ${(fitting?.words ?? usualWords).outputLimit}.`
      const message = `${whose} may use ${limit} ${unit} a minute; this request alone asks for more. ${advice}`
      return { kind: 'rate_limited', message, shouldRetry: false }
    }
    case 'spend':
      return spendFailure(whose, limited, fitting)
  }
}

function spendFailure(whose: string, limited: SpendLimited, fitting: AffordableSize | undefined): Failure {
  const { period, limit, spent, held, needed, freedBy, resetsInMs } = limited
  const amounts = `spent $${formatUsd(spent)}, held $${formatUsd(held)}`
  const demand = freedBy === 'nothing' ? '; this request alone needs ' : ', needed '
  const wanted = needed === undefined ? '' : `${demand}$${formatUsd(needed)}`
  const message = `${whose} may spend $${formatUsd(limit)} in a ${period} (UTC): ${amounts}${wanted}.${adviceOf(fitting)}`
  switch (freedBy) {
    case 'holds':
      return { kind: 'spend_limited', message, retryAfterMs: HOLDS_RETRY_MS }
    case 'period':
      // Hours or days: an SDK must not wait for that by itself.
      return { kind: 'spend_limited', message, retryAfterMs: resetsInMs, shouldRetry: false }
    case 'nothing':
      return { kind: 'spend_limited', message, shouldRetry: false }
  }
}
