import { queryOptions } from '@tanstack/react-query'
import type { Balance } from '../../lib/accounts.ts'
import { addressOf, api, path } from '../../lib/api.ts'

export type LedgerLine = {
  readonly time: string
  readonly kind: 'credit' | 'debit' | 'refund' | 'charges' | 'redemption'
  readonly amount_nano_usd: string
  readonly balance_nano_usd: string
  readonly ref: string | null
  readonly reason: string | null
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
export type Holds = {
  readonly held_nano_usd: string
  readonly data: readonly { readonly request: string; readonly amount_nano_usd: string; readonly created_at: string }[]
}

export const statementQuery = (account: string, month: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', account, month],
    queryFn: () => api.get<Statement>(path`accounts/${account}/ledger`, { cursor: month }),
  })

export const statementFile = (account: string, month: string): string =>
  addressOf(path`accounts/${account}/ledger`, { cursor: month, format: 'csv' }).href

export const holdsQuery = (account: string) =>
  queryOptions({
    queryKey: ['holds', account],
    queryFn: () => api.get<Holds>(path`accounts/${account}/holds`),
    refetchInterval: 5_000,
  })

export const redeem = (account: string, code: string): Promise<{ amount_nano_usd: string; balance: Balance }> =>
  api.post(path`accounts/${account}/redemptions`, { code })

/** The month after, as `2026-12`. */
export function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7)
}
