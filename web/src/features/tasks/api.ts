import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Task } from '../../lib/api-types.gen.ts'
import { api, path, type Page } from '../../lib/api.ts'
import { isOpen } from '../../lib/tasks.ts'

export const taskKinds = ['image', 'video'] as const

export const tasksQuery = (account: string, kind: Task['kind'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['tasks', account, kind],
    queryFn: ({ pageParam: cursor }) =>
      api.get<Page<Task>>(path`accounts/${account}/tasks`, { kind, cursor, limit: 50 }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    // Polls only while a task is open.
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isOpen)) ? 3_000 : false),
  })
