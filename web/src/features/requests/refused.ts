/** Requests that were refused before money was held. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { RefusedRequest } from '../../lib/api-types.gen.ts'
import { api, path, type Page } from '../../lib/api.ts'
import { queryOf, type RequestFilters } from '../../lib/request-filters.ts'
import { MINUTE_MS } from '../../lib/units.ts'

/** A path is shown with its method. A named endpoint is always POST. */
export const endpointOf = ({ method, endpoint }: RefusedRequest): string =>
  endpoint.startsWith('/') ? `${method} ${endpoint}` : endpoint

/** The filter value for refused requests, which have no outcome. */
export const REFUSED = 'refused' as const

const PAGE_ROWS = 100

/** Filters that apply only to admitted requests: provider, cost and duration. */
export const lateFilters = ['provider', 'min_cost', 'min_ms'] as const satisfies readonly (keyof RequestFilters)[]

/** Filters that apply to refused requests. */
function narrowed({ range, from, to, model, key, endpoint }: RequestFilters): RequestFilters {
  const named = { range, from, to, model, key, endpoint }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}

export const isNarrowed = (filters: RequestFilters): boolean => Object.keys(narrowed(filters)).length > 0

export const refusalsQuery = (account: string, filters: RequestFilters) =>
  infiniteQueryOptions({
    queryKey: ['refused', account, narrowed(filters)],
    queryFn: ({ pageParam: cursor }) =>
      api.get<Page<RefusedRequest>>(path`accounts/${account}/refused-requests`, {
        ...queryOf(narrowed(filters), Date.now()),
        limit: PAGE_ROWS,
        cursor,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    staleTime: 30_000,
  })

export const refusalQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['refused-request', account, id],
    queryFn: () => api.get<RefusedRequest>(path`accounts/${account}/refused-requests/${id}`),
    staleTime: MINUTE_MS,
  })
