import type { Account, Limits } from '../../lib/accounts.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export const accountListQuery = (wanted: { readonly q?: string; readonly status?: string }) =>
  listQuery<Account>('accounts', 'accounts', wanted)

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
