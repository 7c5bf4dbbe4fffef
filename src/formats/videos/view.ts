/** Tasks as clients see them: the standard structure, and the envelope of the alias routes. */
import { statusOf, type VideoTask } from '../../domain/video-task.ts'

export const FAILED_CODE = 'video_generation_failed'

const seconds = (ms: number): number => Math.floor(ms / 1000)

/** `contentUrl`: where the video can be fetched once it is completed. */
export function showTask(task: VideoTask, contentUrl: string): object {
  const { id, model, stage, progress, createdAtMs, endedAtMs, usage, reason } = task
  const status = statusOf(stage)
  if (status === 'failed') return { id, object: 'video', status, error: { message: reason ?? '', code: FAILED_CODE } }
  const shown = { id, object: 'video', model, status, progress, created_at: seconds(createdAtMs) }
  if (status !== 'completed') return shown
  return {
    ...shown,
    completed_at: seconds(endedAtMs ?? createdAtMs),
    usage: tokensView(usage?.tokens ?? 0),
    metadata: { url: contentUrl },
  }
}

const tokensView = (tokens: number): object => ({ completion_tokens: tokens, total_tokens: tokens })

/** The answer to the creation of a task. */
export const showCreated = ({ id, model, createdAtMs }: Pick<VideoTask, 'id' | 'model' | 'createdAtMs'>): object => ({
  id,
  task_id: id,
  object: 'video',
  model,
  status: 'queued',
  progress: 0,
  created_at: seconds(createdAtMs),
})

const words = { queued: 'QUEUED', in_progress: 'IN_PROGRESS', completed: 'SUCCESS', failed: 'FAILURE' } as const

/** `GET /v1/video/generations/{id}`: the fields that clients of such gateways read, and nothing internal. */
export function showAlias(task: VideoTask, contentUrl: string): object {
  const { id, model, stage, progress, createdAtMs, startedAtMs, endedAtMs, usage, reason } = task
  const status = statusOf(stage)
  const isDone = status === 'completed'
  const data = {
    id,
    task_id: id,
    object: 'video',
    model,
    action: 'generate',
    status: words[status],
    progress: `${status === 'failed' ? 100 : progress}%`,
    fail_reason: reason ?? '',
    created_at: seconds(createdAtMs),
    updated_at: seconds(endedAtMs ?? startedAtMs ?? createdAtMs),
    submit_time: seconds(createdAtMs),
    start_time: startedAtMs === undefined ? 0 : seconds(startedAtMs),
    finish_time: endedAtMs === undefined ? 0 : seconds(endedAtMs),
    ...(isDone
      ? { result_url: contentUrl, url: contentUrl, format: 'mp4', usage: tokensView(usage?.tokens ?? 0) }
      : {}),
    ...(isDone ? { metadata: { url: contentUrl } } : {}),
    ...(status === 'failed' ? { error: { message: reason ?? '', code: FAILED_CODE } } : {}),
    data: null,
  }
  return { code: 'success', message: '', data }
}
