import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, path, type Page } from '../../lib/api.ts'
import { queryOf, type RequestFilters } from '../../lib/request-filters.ts'
import type { RequestRow } from '../../lib/requests.ts'

type PriceLine = {
  /** A bucket of tokens, or a piece such as `piece:image/1024x1024`. */
  readonly unit: string
  readonly count: number
  readonly nano_usd_per_million: string
  /** With a fraction: the sum is rounded, not the lines. */
  readonly amount_nano_usd: string
}
export type PriceLines = {
  readonly lines: readonly PriceLine[]
  readonly rounding_nano_usd: string
  readonly total_nano_usd: string
  readonly prices_from: string
}
export type Attempt = {
  readonly result: string
  readonly status: number | null
  readonly code: string | null
  readonly started_ms: number
  readonly took_ms: number
  /** Operators alone know these. */
  readonly provider?: string
  readonly upstream_model?: string
  readonly type?: string | null
  readonly message?: string | null
  /** The vendor's id of the request. */
  readonly upstream_request_id?: string | null
}
export type RequestDetail = RequestRow & {
  readonly attempts_made: readonly Attempt[]
  readonly phases: readonly {
    readonly phase: 'before' | 'attempt' | 'answer'
    readonly started_ms: number
    readonly took_ms: number
  }[]
  readonly output_cap: number | null
  readonly output_cap_reason: 'operator' | 'vendor' | 'balance' | 'model_maximum' | null
  readonly price: PriceLines | null
  readonly written_off_nano_usd: string
  readonly released_nano_usd: string
  readonly upstream_cost?: PriceLines | null
}

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
    staleTime: 60_000,
    // Whoever comes back to the page is told what is new; the list as it was read stays where it is.
    refetchOnWindowFocus: false,
  })

export const requestQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['request', account, id],
    queryFn: () => api.get<RequestDetail>(path`accounts/${account}/requests/${id}`),
    staleTime: 60_000,
  })
