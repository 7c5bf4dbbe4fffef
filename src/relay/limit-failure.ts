import type { Limited } from '../accounts/limiter.ts'
import type { Failure } from '../domain/failure.ts'
import { formatUsd } from '../domain/money.ts'

/** A client that waits for another of its requests to end should look again soon. */
const CONCURRENCY_RETRY_MS = 1_000

/** What a client over one of its limits is told: whose limit, how much of it, and when it is worth trying again. */
export function limitFailure(limited: Limited): Failure {
  const whose = limited.scope === 'key' ? 'This key' : 'This account'
  switch (limited.kind) {
    case 'concurrency':
      return {
        kind: 'rate_limited',
        message: `${whose} may have ${limited.limit} requests in flight at once, and has.`,
        retryAfterMs: CONCURRENCY_RETRY_MS,
      }
    case 'rate': {
      const { unit, limit, retryAfterMs } = limited
      if (retryAfterMs !== undefined) {
        return { kind: 'rate_limited', message: `${whose} may use ${limit} ${unit} a minute, and has.`, retryAfterMs }
      }
      const message = `${whose} may use ${limit} ${unit} a minute; this request alone asks for more. Lower max_tokens.`
      return { kind: 'rate_limited', message, shouldRetry: false }
    }
    case 'spend': {
      const { period, limit, spent, held, resetsInMs } = limited
      const amounts = `limit $${formatUsd(limit)}, spent $${formatUsd(spent)}, held $${formatUsd(held)}`
      const message = `${whose} has reached what it may spend in a ${period} (UTC): ${amounts}.`
      // Open holds alone in the way will give some of it back; otherwise only the next day or month does.
      if (spent < limit && held > 0n) return { kind: 'spend_limited', message, retryAfterMs: 2_000 }
      return { kind: 'spend_limited', message, retryAfterMs: resetsInMs, shouldRetry: false }
    }
  }
}
