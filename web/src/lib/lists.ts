/** Lists that are loaded page by page, with their total length. */
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { api, type Page, type Query } from './api.ts'

/** `total`: the number of matches on all pages. Null: too many to count. */
export type List<T> = Page<T> & { readonly total: number | null }

const PAGE = 100

/** `key` identifies the list. It includes the search text. */
export const listQuery = <T>(key: string, route: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [key, route, query],
    queryFn: ({ pageParam: cursor }) => api.get<List<T>>(route, { ...query, cursor, limit: PAGE }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

/** The loaded part of a list. */
export type Rows<T> = {
  /** Undefined: nothing is loaded yet. */
  readonly rows: readonly T[] | undefined
  readonly total: number | null
  readonly error: Error | null
  readonly refetch: () => unknown
  /** Loads the next page. Undefined: the list is complete. */
  readonly more: (() => void) | undefined
  readonly isReading: boolean
}

export function useRows<T>(
  query: ReturnType<typeof listQuery<T>>,
  options: { readonly refetchInterval?: number } = {},
): Rows<T> {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...query,
    ...options,
  })
  return {
    rows: data?.pages.flatMap((page) => page.data),
    total: data?.pages.at(-1)?.total ?? null,
    error,
    refetch,
    more: hasNextPage ? () => void fetchNextPage() : undefined,
    isReading: isFetchingNextPage,
  }
}

const WHOLE_PAGE = 200

/** Loads a list from start to end, where all of it is needed at once. */
export async function wholeList<T>(route: string, query: Query = {}): Promise<readonly T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page: Page<T> = await api.get<Page<T>>(route, { ...query, cursor, limit: WHOLE_PAGE })
    all.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}
