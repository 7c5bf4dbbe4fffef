import type { Spend, LimitStatus } from '../accounts/limit-status.ts'
import type { Limiter } from '../accounts/limiter.ts'
import type { Caller } from '../domain/account.ts'
import { formatUsd, type NanoUsd } from '../domain/money.ts'
import type { RelayPort } from '../relay/port.ts'
import type { EdgeServices } from './edge-options.ts'
import type { RequestContext } from './request-context.ts'

export function showBalance(services: EdgeServices, context: RequestContext): void | Promise<void> {
  const { responder, relay, limiter } = services
  const caller = responder.callerOf(context)
  if ('kind' in caller) return responder.refuse(context, caller)
  const show = (): void => responder.reply(context, 200, balanceView(caller, relay, limiter))
  const reading = [limiter.refresh(caller), relay.ledger.refresh([caller.account.id])].filter(
    (one) => one !== undefined,
  )
  // What cannot be read is shown as it was last known.
  return reading.length > 0 ? Promise.allSettled(reading).then(show) : show()
}

/**
 * Answers `GET /v1/balance`: the balance of the account, and the limits of the key and the account with what is left.
 * Money is text in decimal dollars and exact. A limit that is not set is null, and so is its remainder.
 */
function balanceView(caller: Caller, { ledger }: Pick<RelayPort, 'ledger'>, limiter: Limiter): object {
  const { posted, held, available } = ledger.balance(caller.account.id)
  const [key, account] = limiter.limitStatuses(caller)
  return {
    object: 'balance',
    currency: 'usd',
    account: caller.account.id,
    available: formatUsd(available),
    held: formatUsd(held),
    posted: formatUsd(posted),
    limits: { key: key && statusView(key), account: account && statusView(account) },
  }
}

function statusView({ limits, ...status }: LimitStatus): object {
  return {
    requests_per_minute: { limit: limits.requestsPerMinute ?? null, remaining: status.requestsRemaining ?? null },
    tokens_per_minute: { limit: limits.tokensPerMinute ?? null, remaining: status.tokensRemaining ?? null },
    concurrent_requests: { limit: limits.concurrentRequests ?? null, in_flight: status.inFlight },
    spend_per_day: spendView(limits.spendPerDay, status.day),
    spend_per_month: spendView(limits.spendPerMonth, status.month),
  }
}

function spendView(limit: NanoUsd | undefined, { spent, held, resetsInMs }: Spend): object {
  const left = limit === undefined ? undefined : limit - spent - held
  return {
    limit: limit === undefined ? null : formatUsd(limit),
    spent: formatUsd(spent),
    held: formatUsd(held),
    remaining: left === undefined ? null : formatUsd(left > 0n ? left : 0n),
    resets_in_s: Math.ceil(resetsInMs / 1000),
  }
}
