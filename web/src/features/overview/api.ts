import { queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { zoneName, type Zone } from '../../lib/time.ts'

export const overviewRanges = ['24h', '7d', '30d'] as const
export type OverviewRange = (typeof overviewRanges)[number]

export const overviewQuery = (account: string, range: OverviewRange, zone: Zone) =>
  queryOptions({
    queryKey: ['overview', account, range, zone],
    queryFn: () => api.get<Overview>(path`accounts/${account}/overview`, { range, time_zone: zoneName(zone) }),
    refetchInterval: 30_000,
  })
