/** Limits of accounts and keys, in the words of the API. */
import { z } from 'zod'
import { modelRatesView, ratesView } from '../admin/limits-input.ts'
import type { Limits } from '../domain/limits.ts'
import { formatUsd } from '../domain/money.ts'
import { nano, nanoInput } from './shapes.ts'

const count = z.int().min(1).max(1_000_000_000_000).nullable().optional()
const rate = z.int().nullable()
const rates = { requests_per_minute: rate, tokens_per_minute: rate, concurrent_requests: rate }
const ratesChange = { requests_per_minute: count, tokens_per_minute: count, concurrent_requests: count }

export const limitsShape = z
  .strictObject({
    ...rates,
    spend_per_day_nano_usd: nano.nullable(),
    spend_per_month_nano_usd: nano.nullable(),
    models: z
      .record(z.string(), z.strictObject(rates))
      .meta({ description: 'further limits of single models, by id or alias' }),
  })
  .meta({ id: 'Limits' })

/** A limit that is left out stays. Null removes the limit. */
export const limitsChange = z.strictObject({
  ...ratesChange,
  spend_per_day_nano_usd: nanoInput.nullable().optional(),
  spend_per_month_nano_usd: nanoInput.nullable().optional(),
  models: z
    .record(z.string(), z.strictObject(ratesChange).nullable())
    .optional()
    .meta({ description: 'limits of single models, by id or alias; a model that is left out stays, null removes it' }),
})

export const consoleLimitsView = (limits: Limits): z.infer<typeof limitsShape> => ({
  ...ratesView(limits),
  spend_per_day_nano_usd: limits.spendPerDay?.toString() ?? null,
  spend_per_month_nano_usd: limits.spendPerMonth?.toString() ?? null,
  models: modelRatesView(limits),
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
