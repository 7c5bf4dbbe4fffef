/** Free requests for existing video tasks. */
import type { Failure } from '../domain/failure.ts'
import { statusOf, type VideoTask } from '../domain/video-task.ts'
import { showAlias, showTask } from '../formats/videos/view.ts'
import { invalidParameter, listPageOf, stateFailure, type StateAnswer, type StateRequest } from './state.ts'

/** The message is the same for a task that never existed, was deleted, or is another account's. */
export const NO_TASK: Failure = {
  kind: 'not_found',
  message: 'There is no video with this id.',
  code: 'task_not_found',
}
export const notCompleted = (message: string): Failure => ({ kind: 'not_completed', message, shouldRetry: false })

const scopeOf = ({ caller }: StateRequest): { accountId: string } => ({ accountId: caller.account.id })
const urlOf = ({ linkBase }: StateRequest, { id }: VideoTask): string => `${linkBase}/v1/videos/${id}/content`

async function show(request: StateRequest, view: typeof showTask): Promise<StateAnswer> {
  const task = await request.relay.videos.tasks.find(scopeOf(request), request.id)
  return task ? { kind: 'body', body: view(task, urlOf(request, task)) } : stateFailure(NO_TASK)
}

export const showVideo = (request: StateRequest): Promise<StateAnswer> => show(request, showTask)
export const showVideoAlias = (request: StateRequest): Promise<StateAnswer> => show(request, showAlias)

export async function deleteVideo(request: StateRequest): Promise<StateAnswer> {
  const { relay, id } = request
  const task = await relay.videos.tasks.find(scopeOf(request), id)
  if (!task) return stateFailure(NO_TASK)
  const status = statusOf(task.stage)
  // The vendor bills for a video that is being made.
  if (status !== 'completed' && status !== 'failed') {
    return stateFailure(notCompleted('This video is not finished. It can be deleted when its task has ended.'))
  }
  const isDeleted = await relay.videos.delete(scopeOf(request), id)
  return isDeleted ? { kind: 'body', body: { id, object: 'video.deleted', deleted: true } } : stateFailure(NO_TASK)
}

export async function listVideos(request: StateRequest): Promise<StateAnswer> {
  const { query, relay } = request
  const wanted = listPageOf(query)
  if (wanted.kind === 'failure') return wanted
  const { limit, order, after } = wanted
  const found = await relay.videos.tasks.list(scopeOf(request), { limit, order, after })
  if (!found) return invalidParameter('after', 'there is no video with this id')
  const data = found.slice(0, limit)
  const body = {
    object: 'list',
    data: data.map((task) => showTask(task, urlOf(request, task))),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
  return { kind: 'body', body }
}
