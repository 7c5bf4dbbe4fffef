/** Requests that were refused before any money was held. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { RefusedRequest } from '../../lib/api-types.gen.ts'
import { api, path, type Page } from '../../lib/api.ts'
import { queryOf, type RequestFilters } from '../../lib/request-filters.ts'
import { MINUTE_MS } from '../../lib/units.ts'

/** A path stands with its method; what has a name of its own is posted to. */
export const endpointOf = ({ method, endpoint }: RefusedRequest): string =>
  endpoint.startsWith('/') ? `${method} ${endpoint}` : endpoint

/** Chosen in place of an outcome: what was refused had none. */
export const REFUSED = 'refused' as const

const PAGE_ROWS = 100

/** Filters of what comes after a request is let in: a vendor, a cost, a time that it took. */
export const lateFilters = ['provider', 'min_cost', 'min_ms'] as const satisfies readonly (keyof RequestFilters)[]

/** The filters that what was refused can be told apart by. */
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
