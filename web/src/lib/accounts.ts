/** The account that a page is about, as the API shows it. */
import { queryOptions } from '@tanstack/react-query'
import { api, path } from './api.ts'

export type Limits = {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
  readonly spend_per_day_nano_usd: string | null
  readonly spend_per_month_nano_usd: string | null
}
export type Balance = {
  readonly available_nano_usd: string
  readonly held_nano_usd: string
  readonly posted_nano_usd: string
}
export type Origin = 'declared' | 'stored' | 'environment'
export type Account = {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly origin: Origin
  readonly models: readonly string[] | null
  readonly limits: Limits
  /** Below so much available the people of the account are warned. */
  readonly low_balance_nano_usd: string | null
  readonly balance: Balance
  readonly active_keys: number
  readonly created_at: string
}

export const accountQuery = (id: string) =>
  queryOptions({ queryKey: ['account', id], queryFn: () => api.get<Account>(path`accounts/${id}`), staleTime: 5_000 })
