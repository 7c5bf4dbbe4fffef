import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { RequestDetail, RequestRow } from '../../lib/api-types.gen.ts'
import { api, path, type Page } from '../../lib/api.ts'
import { queryOf, type RequestFilters } from '../../lib/request-filters.ts'
import { MINUTE_MS } from '../../lib/units.ts'

export const PAGE_ROWS = 100

type Place = { readonly limit: number; readonly cursor?: string | undefined }

export const requestsAfter = (account: string, filters: RequestFilters, place: Place): Promise<Page<RequestRow>> =>
  api.get<Page<RequestRow>>(path`accounts/${account}/requests`, { ...queryOf(filters, Date.now()), ...place })

export const requestsQuery = (account: string, filters: RequestFilters) =>
  infiniteQueryOptions({
    queryKey: ['requests', account, filters],
    queryFn: ({ pageParam: cursor }) => requestsAfter(account, filters, { limit: PAGE_ROWS, cursor }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    staleTime: MINUTE_MS,
    // A user who returns to the page is told about new rows. The loaded list stays where it is.
    refetchOnWindowFocus: false,
  })

export const requestQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['request', account, id],
    queryFn: () => api.get<RequestDetail>(path`accounts/${account}/requests/${id}`),
    staleTime: MINUTE_MS,
  })
