/** Limits on the command line: the same options for accounts and keys. */
import { parseUsd } from '../domain/money.ts'
import { usd } from './table.ts'
import type { ValueRule } from './values.ts'

/** The limits of an account or a key as operations show them. */
export type LimitsView = {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
  readonly spend_per_day_usd: string | null
  readonly spend_per_month_usd: string | null
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

type LimitOptionValues = { readonly [Name in keyof typeof limitOptions]: string | undefined }

type Value = number | string | boolean | null

/** Only the limits that were named. */
export const statedLimits = (stated: Readonly<Record<string, Value | undefined>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(stated).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

export const count = (text: string | undefined): number | null | undefined =>
  text === undefined ? undefined : text === NONE ? null : Number(text)

/** The input of an operation: only the limits that were named, with null for `none`. */
export function limitsOfOptions(given: LimitOptionValues): Record<string, Value> {
  const money = (text: string | undefined): string | null | undefined =>
    text === undefined ? undefined : text === NONE ? null : text.replace(/^\$/, '')
  return statedLimits({
    requests_per_minute: count(given['requests-per-minute']),
    tokens_per_minute: count(given['tokens-per-minute']),
    concurrent_requests: count(given.concurrent),
    spend_per_day: money(given['spend-per-day']),
    spend_per_month: money(given['spend-per-month']),
  })
}

/** A short text, such as `60 requests/min, $5.00/day`. */
export function limitsViewText(limits: LimitsView): string {
  const parts = [
    limits.requests_per_minute === null ? [] : [`${limits.requests_per_minute} requests/min`],
    limits.tokens_per_minute === null ? [] : [`${limits.tokens_per_minute} tokens/min`],
    limits.concurrent_requests === null ? [] : [`${limits.concurrent_requests} at once`],
    limits.spend_per_day_usd === null ? [] : [`${usd(limits.spend_per_day_usd)}/day`],
    limits.spend_per_month_usd === null ? [] : [`${usd(limits.spend_per_month_usd)}/month`],
  ].flat()
  return parts.length === 0 ? NONE : parts.join(', ')
}
