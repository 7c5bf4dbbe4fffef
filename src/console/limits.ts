/** Limits of accounts and keys, in the words of the API. */
import { z } from 'zod'
import type { Limits } from '../domain/limits.ts'
import { formatUsd } from '../domain/money.ts'
import { nano, nanoInput } from './shapes.ts'

const count = z.int().min(1).max(1_000_000_000_000)

export const limitsShape = z
  .strictObject({
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    concurrent_requests: z.int().nullable(),
    spend_per_day_nano_usd: nano.nullable(),
    spend_per_month_nano_usd: nano.nullable(),
  })
  .meta({ id: 'Limits' })

/** A limit that is left out stays. Null removes the limit. */
export const limitsChange = z.strictObject({
  requests_per_minute: count.nullable().optional(),
  tokens_per_minute: count.nullable().optional(),
  concurrent_requests: count.nullable().optional(),
  spend_per_day_nano_usd: nanoInput.nullable().optional(),
  spend_per_month_nano_usd: nanoInput.nullable().optional(),
})

export const consoleLimitsView = (limits: Limits): z.infer<typeof limitsShape> => ({
  requests_per_minute: limits.requestsPerMinute ?? null,
  tokens_per_minute: limits.tokensPerMinute ?? null,
  concurrent_requests: limits.concurrentRequests ?? null,
  spend_per_day_nano_usd: limits.spendPerDay?.toString() ?? null,
  spend_per_month_nano_usd: limits.spendPerMonth?.toString() ?? null,
})

/** The same change for an operation, with exact dollars as text. */
export function limitsOfBody(change: z.infer<typeof limitsChange>): object {
  const { spend_per_day_nano_usd: day, spend_per_month_nano_usd: month, ...counts } = change
  const dollars = (amount: bigint | null): string | null => (amount === null ? null : formatUsd(amount))
  return {
    ...counts,
    ...(day === undefined ? {} : { spend_per_day: dollars(day) }),
    ...(month === undefined ? {} : { spend_per_month: dollars(month) }),
  }
}
