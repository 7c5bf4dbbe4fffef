/** Requests that were refused before any money was held. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, path, type Page } from '../../lib/api.ts'

export type Refusal = {
  readonly id: string
  readonly created_at: string
  readonly key: string | null
  readonly method: string
  readonly endpoint: string
  readonly model: string | null
  readonly status: number
  readonly code: string
  /** How many like it followed without rows of their own. */
  readonly repeats: number
  readonly last_at: string
}

/** Chosen in place of an outcome: what was refused had none. */
export const REFUSED = 'refused' as const

const PAGE_ROWS = 100

export const refusalsQuery = (account: string) =>
  infiniteQueryOptions({
    queryKey: ['refused', account],
    queryFn: ({ pageParam: cursor }) =>
      api.get<Page<Refusal>>(path`accounts/${account}/refused-requests`, { limit: PAGE_ROWS, cursor }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    staleTime: 30_000,
  })

export const refusalQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['refused-request', account, id],
    queryFn: () => api.get<Refusal>(path`accounts/${account}/refused-requests/${id}`),
    staleTime: 60_000,
  })
