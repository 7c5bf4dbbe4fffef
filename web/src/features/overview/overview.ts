import { queryOptions } from '@tanstack/react-query'
import type { Balance } from '../../lib/accounts.ts'
import { api, path } from '../../lib/api.ts'
import type { RequestRow } from '../../lib/requests.ts'
import { zoneName, type Zone } from '../../lib/time.ts'
import type { Step, Sums } from '../../lib/usage.ts'

export const overviewRanges = ['24h', '7d', '30d'] as const
export type OverviewRange = (typeof overviewRanges)[number]

export type Overview = {
  readonly balance: Balance
  readonly spent_nano_usd: string
  readonly days_left: number | null
  /** The account is warned below it. */
  readonly low_balance_nano_usd: string | null
  readonly step: Step
  readonly total: Sums
  readonly series: readonly (Sums & { readonly time: string })[]
  readonly last_failures: readonly RequestRow[]
  readonly first_steps: { readonly has_key: boolean; readonly has_called: boolean; readonly has_succeeded: boolean }
  readonly open_holds: number
}

export const overviewQuery = (account: string, range: OverviewRange, zone: Zone) =>
  queryOptions({
    queryKey: ['overview', account, range, zone],
    queryFn: () => api.get<Overview>(path`accounts/${account}/overview`, { range, time_zone: zoneName(zone) }),
    refetchInterval: 30_000,
  })
