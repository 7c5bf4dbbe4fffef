import { z } from 'zod'
import { NO_LIMITS, type Limits } from '../domain/limits.ts'
import { formatUsd, parseUsd } from '../domain/money.ts'
import { operationRules } from './rules.ts'

const count = z.int().min(1).max(1_000_000_000_000).nullable().optional()

/** Dollars as decimal text. With 0, nothing may be spent. */
const dollars = z
  .string()
  .transform((text, context) => {
    const amount = parseUsd(text)
    if (amount !== undefined && amount >= 0n) return amount
    context.addIssue({ code: 'custom', message: operationRules.dollars })
    return z.NEVER
  })
  .nullable()
  .optional()

/** A change of limits. A limit that is left out stays, and null removes one. */
export const limitsInput = z.strictObject({
  requests_per_minute: count,
  tokens_per_minute: count,
  concurrent_requests: count,
  spend_per_day: dollars,
  spend_per_month: dollars,
})

export function changedLimits(before: Limits, change: z.infer<typeof limitsInput>): Limits {
  const changed = <T>(stated: T | null | undefined, old: T | undefined): T | undefined =>
    stated === undefined ? old : (stated ?? undefined)
  const limits: Limits = {
    requestsPerMinute: changed(change.requests_per_minute, before.requestsPerMinute),
    tokensPerMinute: changed(change.tokens_per_minute, before.tokensPerMinute),
    concurrentRequests: changed(change.concurrent_requests, before.concurrentRequests),
    spendPerDay: changed(change.spend_per_day, before.spendPerDay),
    spendPerMonth: changed(change.spend_per_month, before.spendPerMonth),
  }
  return Object.values(limits).some((limit) => limit !== undefined) ? limits : NO_LIMITS
}

/** Limits as operators see them. Null means no limit. */
export const limitsView = (limits: Limits): object => ({
  requests_per_minute: limits.requestsPerMinute ?? null,
  tokens_per_minute: limits.tokensPerMinute ?? null,
  concurrent_requests: limits.concurrentRequests ?? null,
  spend_per_day_usd: limits.spendPerDay === undefined ? null : formatUsd(limits.spendPerDay),
  spend_per_month_usd: limits.spendPerMonth === undefined ? null : formatUsd(limits.spendPerMonth),
})
