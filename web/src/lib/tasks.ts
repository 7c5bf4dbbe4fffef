/** Image and video tasks as the API lists them. */
import { queryOptions } from '@tanstack/react-query'
import type { Task } from './api-types.gen.ts'
import { api, path } from './api.ts'

export const isOpen = ({ status }: Pick<Task, 'status'>): boolean => status === 'queued' || status === 'in_progress'

/** Tasks are linked by their request id: a video id gives access to the video, so it must not be in URLs. */
export const taskQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ['task', account, request],
    queryFn: () => api.get<Task>(path`accounts/${account}/tasks/${request}`),
  })

/** Whether the task has a file to show. */
export const hasFile = ({ kind, status, expires_at: expiresAt }: Task): boolean =>
  kind === 'video' && status === 'completed' && expiresAt !== null && Date.parse(expiresAt) > Date.now()
