import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Balance } from '../../lib/accounts.ts'
import { addressOf, api, path, type Page } from '../../lib/api.ts'
import type { Facts } from '../../lib/i18n/said.ts'

export type LedgerLine = {
  readonly time: string
  readonly kind: 'credit' | 'debit' | 'refund' | 'charges' | 'redemption'
  readonly amount_nano_usd: string
  readonly balance_nano_usd: string
  readonly ref: string | null
  readonly reason: string | null
  /** What it says, as data, where nobody typed it. */
  readonly own: { readonly code: string; readonly facts: Facts } | null
  readonly requests: number | null
}
export type Statement = {
  readonly month: string
  readonly opening_nano_usd: string
  readonly credits_nano_usd: string
  readonly debits_nano_usd: string
  readonly charges_nano_usd: string
  readonly closing_nano_usd: string
  readonly data: readonly LedgerLine[]
  /** The month before; null: the account is not older. */
  readonly next_cursor: string | null
}
type Hold = { readonly request: string; readonly amount_nano_usd: string; readonly created_at: string }
export type Holds = Page<Hold> & { readonly held_nano_usd: string }

export const statementQuery = (account: string, month: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', account, month],
    queryFn: () => api.get<Statement>(path`accounts/${account}/ledger`, { cursor: month }),
  })

export const statementFile = (account: string, month: string): string =>
  addressOf(path`accounts/${account}/ledger`, { cursor: month, format: 'csv' }).href

export const holdsQuery = (account: string) =>
  infiniteQueryOptions({
    queryKey: ['holds', account],
    queryFn: ({ pageParam: cursor }) => api.get<Holds>(path`accounts/${account}/holds`, { cursor, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: 5_000,
  })

export const redeem = (account: string, code: string): Promise<{ amount_nano_usd: string; balance: Balance }> =>
  api.post(path`accounts/${account}/redemptions`, { code })

/** The month after, as `2026-12`. */
export function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7)
}
