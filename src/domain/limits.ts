import type { NanoUsd } from './money.ts'
import { limit } from '../lib/primitives/limit.ts'

/** The most that a key or an account may use. Undefined means no limit. */
export type Limits = {
  readonly requestsPerMinute?: number | undefined
  /** Input and output together. */
  readonly tokensPerMinute?: number | undefined
  readonly concurrentRequests?: number | undefined
  /** Charges of a calendar day and a calendar month in UTC, including open holds. */
  readonly spendPerDay?: NanoUsd | undefined
  readonly spendPerMonth?: NanoUsd | undefined
  /** Further limits of single models, by the id or an alias of the model. */
  readonly models?: Readonly<Record<string, ModelRates>> | undefined
}

/** The most that may be used of one model. */
export type ModelRates = {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly concurrentRequests?: number | undefined
}

/** How a hold counts against limits: the counters of the store, the Unix day on which it counts, and its tokens. */
export type LimitCount = { readonly counters: readonly string[]; readonly day: number; readonly tokens: number }

/** The one object for no limits. A comparison with it saves a look at each field. */
export const NO_LIMITS: Limits = Object.freeze({})

/** The limits as the store keeps them: JSON text, with money as decimal text of nano-USD. Null if there are none. */
export function limitsText(limits: Limits): string | null {
  const stated = Object.entries(limits).filter(([, value]) => value !== undefined)
  if (stated.length === 0) return null
  return JSON.stringify(Object.fromEntries(stated), (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Reads the text of `limitsText`. */
export function limitsOf(text: string | null): Limits {
  if (text === null) return NO_LIMITS
  const { spendPerDay, spendPerMonth, ...counts } = JSON.parse(text) as Record<string, number | string | undefined>
  return {
    ...(counts as Limits),
    ...(spendPerDay === undefined ? {} : { spendPerDay: BigInt(spendPerDay) }),
    ...(spendPerMonth === undefined ? {} : { spendPerMonth: BigInt(spendPerMonth) }),
  }
}

/** A request that a vendor refuses costs nothing, but leaves a record for ever. An account may have this many. */
export const FUTILE_PER_MINUTE = limit(
  'futileRequestsPerMinute',
  1_200,
  'If vendors refuse more requests of an account than this, the account gets 429.',
)

/** Tool calls in one streamed answer. Vendors take 128 tools, and models call some of them several times. */
export const ANSWER_CALLS_MAX = limit('answerCallsMax', 1_024, 'A stream with more tool calls is cut off.')
