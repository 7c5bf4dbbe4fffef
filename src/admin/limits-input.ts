import { z } from 'zod'
import { NO_LIMITS, type Limits, type ModelRates } from '../domain/limits.ts'
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

const rates = { requests_per_minute: count, tokens_per_minute: count, concurrent_requests: count }

/** A change of limits. A limit that is left out stays, and null removes one. */
export const limitsInput = z.strictObject({
  ...rates,
  spend_per_day: dollars,
  spend_per_month: dollars,
  /** Limits of single models, by id or alias. Null removes those of a model. */
  models: z.record(z.string(), z.strictObject(rates).nullable()).optional(),
})

type LimitsInput = z.infer<typeof limitsInput>
type RatesInput = Pick<LimitsInput, keyof typeof rates>

const changed = <T>(stated: T | null | undefined, old: T | undefined): T | undefined =>
  stated === undefined ? old : (stated ?? undefined)

const changedRates = (before: ModelRates, change: RatesInput): ModelRates => ({
  requestsPerMinute: changed(change.requests_per_minute, before.requestsPerMinute),
  tokensPerMinute: changed(change.tokens_per_minute, before.tokensPerMinute),
  concurrentRequests: changed(change.concurrent_requests, before.concurrentRequests),
})

const hasLimit = (limits: object): boolean => Object.values(limits).some((limit) => limit !== undefined)

function changedModels(before: Limits['models'] = {}, change: LimitsInput['models'] = {}): Limits['models'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(change)])]
  const entries = names.flatMap((name): [string, ModelRates][] => {
    const stated = Object.hasOwn(change, name) ? change[name] : {}
    if (!stated) return []
    const known = Object.hasOwn(before, name) ? before[name] : undefined
    const limits = changedRates(known ?? {}, stated)
    return hasLimit(limits) ? [[name, limits]] : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The models that a change sets limits for. */
export const limitedModels = ({ models = {} }: LimitsInput): readonly string[] =>
  Object.entries(models).flatMap(([name, stated]) => (stated === null ? [] : [name]))

export function changedLimits(before: Limits, change: LimitsInput): Limits {
  const limits: Limits = {
    ...changedRates(before, change),
    spendPerDay: changed(change.spend_per_day, before.spendPerDay),
    spendPerMonth: changed(change.spend_per_month, before.spendPerMonth),
    models: changedModels(before.models, change.models),
  }
  return hasLimit(limits) ? limits : NO_LIMITS
}

export const ratesView = (limits: ModelRates) => ({
  requests_per_minute: limits.requestsPerMinute ?? null,
  tokens_per_minute: limits.tokensPerMinute ?? null,
  concurrent_requests: limits.concurrentRequests ?? null,
})

export const modelRatesView = ({ models = {} }: Limits): Record<string, ReturnType<typeof ratesView>> =>
  Object.fromEntries(Object.entries(models).map(([name, limits]) => [name, ratesView(limits)]))

/** Limits as operators see them. Null means no limit. */
export const limitsView = (limits: Limits): object => ({
  ...ratesView(limits),
  spend_per_day_usd: limits.spendPerDay === undefined ? null : formatUsd(limits.spendPerDay),
  spend_per_month_usd: limits.spendPerMonth === undefined ? null : formatUsd(limits.spendPerMonth),
  models: modelRatesView(limits),
})
