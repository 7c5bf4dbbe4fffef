/** Lists that are read a page at a time, and say how long they are. */
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { api, type Page, type Query } from './api.ts'

/** `total`: how many fit on all pages; null: more than can be counted. */
export type List<T> = Page<T> & { readonly total: number | null }

const PAGE = 100

/** `key` says what the list is of; what is looked for is part of it. */
export const listQuery = <T>(key: string, route: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [key, route, query],
    queryFn: ({ pageParam: cursor }) => api.get<List<T>>(route, { ...query, cursor, limit: PAGE }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

/** What is read of a list so far. */
export type Rows<T> = {
  /** Undefined: nothing yet. */
  readonly rows: readonly T[] | undefined
  readonly total: number | null
  readonly error: Error | null
  readonly refetch: () => unknown
  /** Reads the next page; undefined where the list is read to its end. */
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

/** A list from its beginning to its end, where all of it is needed at once. */
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
