import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Account, Limits } from '../../lib/accounts.ts'
import { api, path, type Page } from '../../lib/api.ts'

export const accountListQuery = (q: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['accounts', 'list', q],
    queryFn: ({ pageParam: cursor }) => api.get<Page<Account>>('accounts', { q, cursor, limit: 100 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

export const adjustmentKinds = ['credit', 'debit', 'refund'] as const
export type Adjustment = {
  readonly kind: (typeof adjustmentKinds)[number]
  readonly amount_nano_usd: string
  readonly reason: string
  readonly ref: string
}
export type AccountChange = {
  readonly status?: Account['status']
  readonly models?: readonly string[] | null
  readonly limits?: Limits
}

export const createAccount = (draft: { name: string; balance_nano_usd?: string }): Promise<Account> =>
  api.post('accounts', draft)
export const changeAccount = (id: string, change: AccountChange): Promise<Account> =>
  api.patch(path`accounts/${id}`, change)
export const adjust = (id: string, adjustment: Adjustment): Promise<Account> =>
  api.post(path`accounts/${id}/adjustments`, adjustment)
