import type { Failure } from '../domain/failure.ts'
import type { LimitViolation, SpendLimited } from '../domain/limit-violation.ts'
import { formatUsd } from '../domain/money.ts'
import { usualWords, type RequestWords } from '../formats/core/request-words.ts'

/** Another request of the client may end at any moment, so it should try again soon. */
const CONCURRENCY_RETRY_MS = 1_000

/** Holds release what their requests do not use. */
const HOLDS_RETRY_MS = 2_000

/** The size of a request that would fit. `tokens` is the output there is room for, or 0 if it is not known. */
export type AffordableSize = { readonly words: RequestWords; readonly tokens: number }

export const adviceOf = (fitting: AffordableSize | undefined): string =>
  fitting && fitting.tokens > 0 ? ` A ${fitting.words.outputLimit} of ${fitting.tokens} would fit.` : ''

type Owner = Extract<LimitViolation, { readonly model?: string | undefined }>

/** The parts of a sentence that say whose limit it is, and for which model. */
function termsOf({ scope, model }: Owner): { readonly whose: string; readonly of: string; readonly among: string } {
  if (scope === 'model') return { whose: `The model '${model}'`, of: '', among: ' for all accounts together' }
  const of = model === undefined ? '' : ` of the model '${model}'`
  return { whose: scope === 'key' ? 'This key' : 'This account', of, among: '' }
}

/** The failure for a client over a limit: whose limit, its value, and when to try again. */
export function limitFailure(limited: LimitViolation, fitting?: AffordableSize): Failure {
  const whose = limited.scope === 'key' ? 'This key' : 'This account'
  switch (limited.kind) {
    case 'concurrency': {
      const { whose: owner, of } = termsOf(limited)
      const message = `${owner} may have ${limited.limit} requests${of} in flight at once, and that many are running.`
      return { kind: 'rate_limited', message, retryAfterMs: CONCURRENCY_RETRY_MS }
    }
    case 'futile':
      return {
        kind: 'rate_limited',
        message: `${whose} had too many requests refused by vendors (${limited.limit} a minute are allowed). Correct them first.`,
        retryAfterMs: limited.retryAfterMs,
      }
    case 'rate': {
      const { unit, limit, retryAfterMs } = limited
      const { whose: owner, of, among } = termsOf(limited)
      const verb = limited.scope === 'model' ? 'takes' : 'may use'
      const allowed = `${owner} ${verb} ${limit} ${unit} a minute${of}${among}.`
      if (retryAfterMs !== undefined) {
        const left = unit === 'tokens' ? 'Too few are left for this request.' : 'None are left.'
        return { kind: 'rate_limited', message: `${allowed} ${left}`, retryAfterMs }
      }
      const advice = `Lower ${(fitting?.words ?? usualWords).outputLimit}.`
      const message = `${allowed} This request alone needs more. ${advice}`
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
      // This may be hours or days. An SDK must not wait for that by itself.
      return { kind: 'spend_limited', message, retryAfterMs: resetsInMs, shouldRetry: false }
    case 'nothing':
      return { kind: 'spend_limited', message, shouldRetry: false }
  }
}
