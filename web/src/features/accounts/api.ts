import { queryOptions } from '@tanstack/react-query'
import type { Account, Answers, Bodies } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { listQuery } from '../../lib/lists.ts'

export const accountListQuery = (wanted: { readonly q?: string; readonly status?: string }) =>
  listQuery<Account>('accounts', 'accounts', wanted)

export type AccountPriceChange = Bodies['PUT /accounts/{account}/prices']
export const accountPricesQuery = (id: string) =>
  queryOptions({
    queryKey: ['account-prices', id],
    queryFn: () => api.get<Answers['GET /accounts/{account}/prices']>(path`accounts/${id}/prices`),
  })
export const setAccountPrice = (
  id: string,
  change: AccountPriceChange,
): Promise<Answers['PUT /accounts/{account}/prices']> => api.put(path`accounts/${id}/prices`, change)

export type Adjustment = Bodies['POST /accounts/{account}/adjustments']
export const adjustmentKinds = ['credit', 'debit', 'refund'] as const satisfies readonly Adjustment['kind'][]
export type AccountChange = Bodies['PATCH /accounts/{account}']

export const createAccount = (draft: Bodies['POST /accounts']): Promise<Account> => api.post('accounts', draft)
export const changeAccount = (id: string, change: AccountChange): Promise<Account> =>
  api.patch(path`accounts/${id}`, change)
export const adjust = (id: string, adjustment: Adjustment): Promise<Account> =>
  api.post(path`accounts/${id}/adjustments`, adjustment)
