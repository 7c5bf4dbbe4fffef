import { queryOptions } from '@tanstack/react-query'
import type { Usage } from '../../lib/api-types.gen.ts'
import { addressOf, api, path, type Query } from '../../lib/api.ts'
import type { Range } from '../../lib/ranges.ts'
import { zoneName, type Zone } from '../../lib/time.ts'
import { stepsOf, type Step } from '../../lib/usage.ts'

export const groups = ['model', 'key', 'endpoint'] as const
export type Group = (typeof groups)[number]

export type RefusedCount = Usage['refused'][number]

export type UsageSelection = {
  readonly range: Range
  readonly step: Step
  readonly by: Group
  readonly model?: string | undefined
  readonly key?: string | undefined
  readonly endpoint?: string | undefined
  readonly zone: Zone
}

function queryOf({ range, step, by, model, key, endpoint, zone }: UsageSelection): Query {
  const { times, toMs } = stepsOf(range, step, zone)
  const [from, to] = [times[0] ?? toMs, toMs].map((ms) => new Date(ms).toISOString())
  return { from, to, step, by, model, key, endpoint, time_zone: zoneName(zone) }
}

export const usageQuery = (account: string, asked: UsageSelection) =>
  queryOptions({
    queryKey: ['usage', account, asked],
    queryFn: () => api.get<Usage>(path`accounts/${account}/usage`, queryOf(asked)),
    staleTime: 30_000,
  })

/** The same rows as a file. */
export const exportOf = (account: string, asked: UsageSelection, format: 'csv' | 'json'): string =>
  addressOf(path`accounts/${account}/usage`, { ...queryOf(asked), format }).href
