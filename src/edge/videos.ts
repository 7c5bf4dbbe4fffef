/** What clients ask of tasks that are there already. None of it costs anything. */
import type { Failure } from '../domain/failure.ts'
import { statusOf, type VideoStage, type VideoTask } from '../domain/video-task.ts'
import { showAlias, showTask } from '../formats/videos/view.ts'
import type { Tasks } from '../video/tasks.ts'
import type { ContentServer, Recipient } from './media.ts'
import type { Ask, StateAnswer, StateRoute } from './state.ts'

type VideoRouteMatch = Omit<StateRoute, 'id'> & { readonly path: string }

/** Everything that is asked of one task; `{id}` is its id. */
export const videoRoutes: readonly VideoRouteMatch[] = [
  {
    path: '/v1/videos/{id}',
    methods: ['GET', 'HEAD', 'DELETE'],
    answer: (ask) => (ask.method === 'DELETE' ? remove(ask) : show(ask, showTask)),
  },
  { path: '/v1/video/generations/{id}', methods: ['GET', 'HEAD'], answer: (ask) => show(ask, showAlias) },
]

/** The list, beside the creation of which the same path is. */
export const listRoute: StateRoute = { methods: ['GET', 'HEAD'], id: '', answer: (ask) => list(ask) }

const PATH = /^(\/v1\/videos|\/v1\/video\/generations)\/([^/]+)$/
const CONTENT = /^\/v1\/videos\/([^/]+)\/content$/

export function videoRoute(path: string): StateRoute | undefined {
  const [, prefix, id] = PATH.exec(path) ?? []
  const route = id === undefined ? undefined : videoRoutes.find((one) => one.path === `${prefix}/{id}`)
  return route && id !== undefined ? { methods: route.methods, id, answer: route.answer } : undefined
}

/** The id of the task in the path of its content. */
export const videoIdOfContentPath = (path: string): string | undefined => CONTENT.exec(path)?.[1]

/** The same words whether it never was, was deleted, or is somebody else's. */
const NO_TASK: Failure = {
  kind: 'not_found',
  message: 'There is no video with this id.',
  code: 'task_not_found',
}
/** OpenAI's API has pictures of a video besides. */
const NO_VARIANT: Failure = {
  kind: 'invalid_value',
  message: "Invalid 'variant': must be 'video'.",
  param: 'variant',
}
const EXPIRED: Failure = { kind: 'expired', message: 'This video is not kept any more.' }
const notCompleted = (message: string): Failure => ({ kind: 'not_completed', message, shouldRetry: false })

const failed = (failure: Failure): StateAnswer => ({ kind: 'failure', failure })
const invalid = (param: string, rule: string): StateAnswer =>
  failed({ kind: 'invalid_value', message: `Invalid '${param}': ${rule}.`, param })
const scopeOf = ({ caller }: Ask): { accountId: string } => ({ accountId: caller.account.id })
const urlOf = ({ linkBase }: Ask, { id }: VideoTask): string => `${linkBase}/v1/videos/${id}/content`

async function show(ask: Ask, view: typeof showTask): Promise<StateAnswer> {
  const task = await ask.relay.videos.tasks.find(scopeOf(ask), ask.id)
  return task ? { kind: 'body', body: view(task, urlOf(ask, task)) } : failed(NO_TASK)
}

async function remove(ask: Ask): Promise<StateAnswer> {
  const { relay, id } = ask
  const task = await relay.videos.tasks.find(scopeOf(ask), id)
  if (!task) return failed(NO_TASK)
  const status = statusOf(task.stage)
  // It is being made, and its vendor bills for it.
  if (status !== 'completed' && status !== 'failed') {
    return failed(notCompleted('This video is being made. It can be deleted when it has ended.'))
  }
  const isDeleted = await relay.videos.delete(scopeOf(ask), id)
  return isDeleted ? { kind: 'body', body: { id, object: 'video.deleted', deleted: true } } : failed(NO_TASK)
}

const LIMIT_MAX = 100
const LIMIT_DEFAULT = 20

async function list(ask: Ask): Promise<StateAnswer> {
  const { query, relay } = ask
  const limit = query.has('limit') ? Number(query.get('limit')) : LIMIT_DEFAULT
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    return invalid('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return invalid('order', "must be 'asc' or 'desc'")
  const found = await relay.videos.tasks.list(scopeOf(ask), { limit, order, after: query.get('after') ?? undefined })
  if (!found) return invalid('after', 'there is no video with this id')
  const data = found.slice(0, limit)
  const body = {
    object: 'list',
    data: data.map((task) => showTask(task, urlOf(ask, task))),
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
  return { kind: 'body', body }
}

type Archive = { readonly files: ContentServer; readonly tasks: Pick<Tasks, 'stageOf'> }

/** Serves a finished video to whoever has the id of its task; what comes back is why not. */
export async function serveVideo(
  recipient: Recipient,
  id: string,
  { files, tasks }: Archive,
): Promise<Failure | undefined> {
  const variant = new URLSearchParams(recipient.exchange.head.query).get('variant') ?? 'video'
  if (variant !== 'video') return NO_VARIANT
  return files.serve(recipient, id, { purpose: 'video', absent: () => absentVideo(tasks, id) })
}

async function absentVideo(tasks: Archive['tasks'], id: string): Promise<Failure> {
  const stage = await tasks.stageOf(id)
  return stage === undefined ? NO_TASK : absentAt(stage)
}

function absentAt(stage: VideoStage): Failure {
  switch (statusOf(stage)) {
    case 'completed':
      return EXPIRED
    case 'failed':
      return NO_TASK
    case 'queued':
    case 'in_progress':
      return notCompleted('This video is being made. Ask for it when its task is completed.')
  }
}
