import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, path, type Page } from '../../lib/api.ts'

export type Task = {
  readonly id: string
  readonly request: string
  readonly kind: 'image' | 'video'
  readonly model: string
  readonly endpoint: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  /** null: not known. */
  readonly progress: number | null
  readonly error_code: string | null
  readonly outputs: number
  readonly held_nano_usd: string
  readonly charged_nano_usd: string
  readonly created_at: string
  readonly elapsed_ms: number
}
export const taskKinds = ['image', 'video'] as const

const isOpen = ({ status }: Task): boolean => status === 'queued' || status === 'in_progress'

/** One that is not among those listed. */
export const taskQuery = (account: string, id: string) =>
  queryOptions({ queryKey: ['task', account, id], queryFn: () => api.get<Task>(path`accounts/${account}/tasks/${id}`) })

export const tasksQuery = (account: string, kind: Task['kind'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['tasks', account, kind],
    queryFn: ({ pageParam: cursor }) =>
      api.get<Page<Task>>(path`accounts/${account}/tasks`, { kind, cursor, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    // Only as long as there is something to wait for.
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isOpen)) ? 3_000 : false),
  })
