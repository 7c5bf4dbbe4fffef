/** Images and videos that were asked for, as the API lists them. */
import { queryOptions } from '@tanstack/react-query'
import { api, path } from './api.ts'

export type VideoStage = 'submitting' | 'queued' | 'running' | 'upscaling' | 'storing' | 'completed' | 'failed'
export type TaskWish = {
  readonly resolution: string
  readonly ratio: string | null
  /** -1: as the model likes. */
  readonly seconds: number
  readonly audio: boolean
  readonly seed: number
  readonly upscale: {
    readonly resolution: string | null
    readonly limit: number | null
    readonly scene: string | null
    readonly version: string
    readonly fps: number | null
  } | null
}
export type Task = {
  readonly id: string
  readonly request: string
  readonly kind: 'image' | 'video'
  readonly model: string
  readonly endpoint: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  readonly stage: VideoStage | null
  /** null: not known. */
  readonly progress: number | null
  readonly error_code: string | null
  /** What it says, as data; of an image the code is that. */
  readonly failure: string | null
  readonly outputs: number
  readonly held_nano_usd: string
  readonly charged_nano_usd: string
  readonly charges: readonly {
    readonly request: string
    readonly endpoint: string
    readonly charged_nano_usd: string
  }[]
  readonly wish: TaskWish | null
  readonly created_at: string
  readonly elapsed_ms: number
  readonly expires_at: string | null
}

export const isOpen = ({ status }: Pick<Task, 'status'>): boolean => status === 'queued' || status === 'in_progress'

/** By the request that asked for it: the id of a video is all it takes to fetch it, and stays out of addresses. */
export const taskQuery = (account: string, request: string) =>
  queryOptions({
    queryKey: ['task', account, request],
    queryFn: () => api.get<Task>(path`accounts/${account}/tasks/${request}`),
  })
