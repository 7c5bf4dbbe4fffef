/** Requests as they end. They enter the list at once, or wait while the user reads it. */
import { useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Answers, RequestRow } from '../../lib/api-types.gen.ts'
import { ApiError, isStatus, openEvents, path, type Page } from '../../lib/api.ts'
import { eventsOf } from '../../lib/events.ts'
import { queryOf, type RequestFilters } from '../../lib/request-filters.ts'
import { merged, nothing, together, type ArrivedRequests } from './merge.ts'
import { PAGE_ROWS, requestsQuery } from './api.ts'

type LiveEvent = Answers['GET /accounts/{account}/requests/live']

export type Connection =
  | { readonly kind: 'off' | 'connecting' | 'open' }
  /** `error`: the message of the gateway, if it sent one. After `refused` it is not tried again. */
  | { readonly kind: 'lost'; readonly error: ApiError | undefined }
  | { readonly kind: 'refused'; readonly error: ApiError }

/** The server sends something every 15 s. A longer silence means that the connection is lost. */
const SILENCE_MS = 40_000
const RETRY_MS = { first: 1_000, last: 30_000 }

export type Live = {
  readonly connection: Connection
  /** The number of waiting rows. */
  readonly held: number
  readonly bringIn: () => void
}

type Options = {
  readonly isOn: boolean
  /** Whether the user is reading. New rows then wait. */
  readonly isReading: boolean
}

export function useLive(account: string, filters: RequestFilters, { isOn, isReading }: Options): Live {
  const client = useQueryClient()
  const [connection, setConnection] = useState<Connection>({ kind: 'off' })
  const [count, setCount] = useState(0)
  const held = useRef<ArrivedRequests>(nothing)
  const reading = useRef(isReading)
  const isVisible = useVisible()
  const { queryKey } = requestsQuery(account, filters)
  const asked = JSON.stringify(queryKey)

  const bringIn = useCallback(() => {
    const arrived = held.current
    held.current = nothing
    setCount(0)
    if (arrived.count === 0) return
    client.setQueryData<List>(JSON.parse(asked) as unknown[], (list) => list && withArrived(list, arrived))
  }, [client, asked])

  useEffect(() => {
    reading.current = isReading
    if (!isReading) bringIn()
  }, [isReading, bringIn])

  useEffect(() => {
    if (!isOn || !isVisible) return setConnection({ kind: 'off' })
    const key = JSON.parse(asked) as [string, string, RequestFilters]
    const stop = new AbortController()
    void follow(key, {
      signal: stop.signal,
      tell: (next) => setConnection((now) => (now.kind === 'open' && next.kind === 'open' ? now : next)),
      take: (arrived) => {
        const listed = client.getQueryData<List>(key)?.pages.flatMap(({ data }) => data) ?? []
        const known = new Set([...listed, ...held.current.rows].map(({ id }) => id))
        const fresh = arrived.rows.filter(({ id }) => !known.has(id)).length + arrived.count - arrived.rows.length
        if (fresh === 0) return
        held.current = together(held.current, { ...arrived, count: fresh })
        if (reading.current) setCount(held.current.count)
        else bringIn()
      },
      onRefused: (error) => void (isStatus(error, 401) && client.refetchQueries({ queryKey: ['session'] })),
    })
    return () => {
      stop.abort()
      held.current = nothing
      setCount(0)
    }
  }, [client, asked, isOn, isVisible, bringIn])

  return { connection, held: count, bringIn }
}

type List = InfiniteData<Page<RequestRow>, string | undefined>

/** Rows as one page. The cursor says where the next page begins. */
function withArrived({ pages }: List, arrived: ArrivedRequests): List {
  const floor = pages.at(-1)?.next_cursor ?? null
  const list = merged({ rows: pages.flatMap(({ data }) => data), floor }, arrived)
  return { pages: [{ data: list.rows, next_cursor: list.floor }], pageParams: [undefined] }
}

type Follower = {
  readonly signal: AbortSignal
  readonly tell: (connection: Connection) => void
  readonly take: (arrived: ArrivedRequests) => void
  readonly onRefused: (error: ApiError) => void
}

/**
 * Connects until it is stopped. The wait grows after each failure. It is random, so that clients do not retry together.
 */
async function follow(key: readonly [string, string, RequestFilters], follower: Follower): Promise<void> {
  const { signal, tell, onRefused } = follower
  tell({ kind: 'connecting' })
  for (let failures = 0; !signal.aborted; failures++) {
    let error: ApiError | undefined
    try {
      await listen(key, { ...follower, onHeard: () => (failures = 0) })
    } catch (thrown) {
      error = thrown instanceof ApiError ? thrown : undefined
    }
    if (signal.aborted) return
    if (error && error.status >= 400 && error.status < 500 && error.status !== 429) {
      tell({ kind: 'refused', error })
      return onRefused(error)
    }
    tell({ kind: 'lost', error: error?.status === 0 ? undefined : error })
    const waitMs = Math.min(RETRY_MS.last, RETRY_MS.first * 2 ** failures) * (0.75 + Math.random() / 2)
    await pause(Math.max(waitMs, (error?.retryAfterSeconds ?? 0) * 1_000), signal)
  }
}

async function listen(
  [, account, filters]: readonly [string, string, RequestFilters],
  { signal, tell, take, onHeard }: Follower & { readonly onHeard: () => void },
): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const onPart = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  try {
    const query = { ...queryOf(filters, Date.now()), limit: PAGE_ROWS }
    const either = AbortSignal.any([signal, silence.signal])
    const response = await openEvents(path`accounts/${account}/requests/live`, query, either)
    for await (const event of eventsOf(response, onPart) as AsyncGenerator<LiveEvent, void>) {
      if (signal.aborted || event.type === 'end') return
      onHeard()
      tell({ kind: 'open' })
      take(arrivedOf(event))
    }
  } finally {
    clearTimeout(timer)
  }
}

function arrivedOf(event: LiveEvent & { readonly type: 'start' | 'rows' }): ArrivedRequests {
  const { data } = event
  if (event.type === 'start') return { rows: data, floor: event.next_cursor, count: data.length }
  return { rows: data, floor: event.more > 0 ? (data.at(-1)?.id ?? null) : null, count: data.length + event.more }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

/** A hidden page does not listen: a browser has six connections for all its tabs. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(document.visibilityState === 'visible')
  useEffect(() => {
    const look = (): void => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  return isVisible
}
