/** Images and videos that were asked for, as the API lists them. */
import { queryOptions } from '@tanstack/react-query'
import type { Task } from './api-types.gen.ts'
import { api, path } from './api.ts'

export const isOpen = ({ status }: Pick<Task, 'status'>): boolean => status === 'queued' || status === 'in_progress'

/** By the request that asked for it: the id of a video is all it takes to fetch it, and stays out of addresses. */
export const taskQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ['task', account, request],
    queryFn: () => api.get<Task>(path`accounts/${account}/tasks/${request}`),
  })

/** Whether there is a file to be seen. */
export const hasFile = ({ kind, status, expires_at: expiresAt }: Task): boolean =>
  kind === 'video' && status === 'completed' && expiresAt !== null && Date.parse(expiresAt) > Date.now()
