/** Limits on the command line: the same options for accounts and keys. */
import { parseUsd } from '../domain/money.ts'
import { usd } from './table.ts'
import { text, type ValueRule } from './values.ts'

type RatesView = {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
}

/** The limits of an account or a key as operations show them. */
export type LimitsView = RatesView & {
  readonly spend_per_day_usd: string | null
  readonly spend_per_month_usd: string | null
  /** Limits of single models. */
  readonly models: Readonly<Record<string, RatesView>>
}

export const NONE = 'none'
export const countOrNone: ValueRule = {
  placeholder: 'N',
  problem: (given) =>
    given === NONE || /^[1-9]\d{0,11}$/.test(given) ? undefined : `must be a whole number above 0 or ${NONE}`,
}
const dollarsOrNone: ValueRule = {
  placeholder: 'USD',
  problem: (given) => {
    const amount = given === NONE ? 0n : parseUsd(given)
    return amount !== undefined && amount >= 0n ? undefined : `must be dollars, such as 5.00, or ${NONE}`
  },
}

export const limitOptions = {
  'requests-per-minute': { summary: 'requests a minute', value: countOrNone },
  'tokens-per-minute': { summary: 'tokens a minute, input and output together', value: countOrNone },
  concurrent: { summary: 'requests in flight at once', value: countOrNone },
  'spend-per-day': { summary: 'dollars a day (UTC), open holds included', value: dollarsOrNone },
  'spend-per-month': { summary: 'dollars a calendar month (UTC), open holds included', value: dollarsOrNone },
} as const

/** The same for a change, which may be of the limits of one model. */
export const limitChangeOptions = {
  ...limitOptions,
  model: { summary: 'the limits are for this model alone (an id or an alias)', value: text('MODEL') },
} as const

type LimitOptionValues = { readonly [Name in keyof typeof limitOptions]: string | undefined }

type Value = number | string | boolean | null

/** Only the limits that were named. */
export const statedLimits = (stated: Readonly<Record<string, Value | undefined>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(stated).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

export const count = (given: string | undefined): number | null | undefined =>
  given === undefined ? undefined : given === NONE ? null : Number(given)

/** The input of an operation: only the limits that were named, with null for `none`. */
export function limitsOfOptions(given: LimitOptionValues): Record<string, Value> {
  const money = (amount: string | undefined): string | null | undefined =>
    amount === undefined ? undefined : amount === NONE ? null : amount.replace(/^\$/, '')
  return statedLimits({
    requests_per_minute: count(given['requests-per-minute']),
    tokens_per_minute: count(given['tokens-per-minute']),
    concurrent_requests: count(given.concurrent),
    spend_per_day: money(given['spend-per-day']),
    spend_per_month: money(given['spend-per-month']),
  })
}

/** The input of a change of limits. It is refused for spend of one model, which has no limit. */
export function limitChangeOf({
  model,
  ...given
}: LimitOptionValues & { readonly model: string | undefined }):
  | { readonly limits: object }
  | { readonly problem: string } {
  const limits = limitsOfOptions(given)
  if (model === undefined) return { limits }
  if (given['spend-per-day'] !== undefined || given['spend-per-month'] !== undefined)
    return { problem: '--model has no limit of spend: name --requests-per-minute, --tokens-per-minute or --concurrent' }
  return { limits: { models: { [model]: limits } } }
}

const rateTexts = (limits: RatesView): readonly string[] => [
  ...(limits.requests_per_minute === null ? [] : [`${limits.requests_per_minute} requests/min`]),
  ...(limits.tokens_per_minute === null ? [] : [`${limits.tokens_per_minute} tokens/min`]),
  ...(limits.concurrent_requests === null ? [] : [`${limits.concurrent_requests} at once`]),
]

/** A short text, such as `60 requests/min, $5.00/day, fast: 6 requests/min`. */
export function limitsViewText(limits: LimitsView): string {
  const parts = [
    rateTexts(limits),
    limits.spend_per_day_usd === null ? [] : [`${usd(limits.spend_per_day_usd)}/day`],
    limits.spend_per_month_usd === null ? [] : [`${usd(limits.spend_per_month_usd)}/month`],
    Object.entries(limits.models).map(([model, rates]) => `${model}: ${rateTexts(rates).join(' and ')}`),
  ].flat()
  return parts.length === 0 ? NONE : parts.join(', ')
}
