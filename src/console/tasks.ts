/**
 * Tasks: requests that take long. Each kind has a source, and a new kind adds one. The list merges the sources by the
 * ids of the requests, which contain the time.
 */
import { z } from 'zod'
import { statusOf, upscaleLineId, videoFaults, videoStages, type VideoTask } from '../domain/video-task.ts'
import { reasonOf } from '../lib/primitives/localized-message.ts'
import type { StoredRecord } from '../records/records.ts'
import type { ConsoleContext } from './context.ts'
import { requestView } from './request-view.ts'
import { isoTime, nano, time, type PageShape } from './shapes.ts'

const chargeShape = z
  .strictObject({
    request: z.string(),
    endpoint: z.string().meta({ description: 'videos, and videos.upscale for its super-resolution' }),
    charged_nano_usd: nano,
  })
  .meta({ id: 'TaskCharge' })

const wishShape = z
  .strictObject({
    resolution: z.string(),
    ratio: z.string().nullable(),
    seconds: z.int().meta({ description: '-1: the model chooses' }),
    audio: z.boolean(),
    seed: z.int(),
    upscale: z
      .strictObject({
        resolution: z.string().nullable(),
        limit: z.int().nullable().meta({ description: 'the shorter edge, in pixels' }),
        scene: z.string().nullable(),
        version: z.string(),
        fps: z.int().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'TaskWish' })

export const taskShape = z
  .strictObject({
    id: z.string(),
    request: z.string().meta({ description: 'id of the request that created it' }),
    kind: z.enum(['image', 'video']),
    model: z.string(),
    endpoint: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    stage: z.enum(videoStages).nullable().meta({ description: 'the stage of a video' }),
    progress: z.int().min(0).max(100).nullable().meta({ description: 'null: not known' }),
    error_code: z.string().nullable(),
    failure: z.string().nullable().meta({ description: 'for a video: the failure behind error_code, as data' }),
    outputs: z.int().meta({ description: 'the number of images or videos that it produced' }),
    held_nano_usd: nano,
    charged_nano_usd: nano,
    charges: z.array(chargeShape).meta({ description: 'the charges, line by line' }),
    wish: wishShape
      .nullable()
      .meta({ description: 'the requested options of a video; prompts and pictures are not kept' }),
    created_at: time,
    elapsed_ms: z.int(),
    expires_at: time.nullable().meta({ description: 'the expiry of its file; null: there is no file' }),
  })
  .meta({ id: 'Task' })
export type TaskListItem = z.infer<typeof taskShape>

/** A cursor is an id without its prefix. The next page has older tasks of any kind. */
type TaskPage = { readonly limit: number; readonly cursor?: string | undefined }

type TaskSource = {
  readonly kind: TaskListItem['kind']
  /** Newest first, older than the cursor. */
  readonly list: (context: ConsoleContext, accountId: string, paging: TaskPage) => Promise<PageShape<TaskListItem>>
}

const IMAGE_ENDPOINTS = ['images.generations', 'images.edits']

function imageTask(context: ConsoleContext, record: StoredRecord): TaskListItem {
  const seen = requestView(context, record, { isOperator: false })
  const isDone = seen.outcome === 'completed'
  return {
    id: seen.id,
    request: seen.id,
    kind: 'image',
    model: seen.model,
    endpoint: seen.endpoint,
    status: isDone ? 'completed' : 'failed',
    stage: null,
    progress: isDone ? 100 : null,
    error_code: seen.error_code,
    failure: null,
    outputs: seen.images,
    held_nano_usd: seen.held_nano_usd,
    charged_nano_usd: seen.charged_nano_usd,
    charges: [{ request: seen.id, endpoint: seen.endpoint, charged_nano_usd: seen.charged_nano_usd }],
    wish: null,
    created_at: seen.created_at,
    elapsed_ms: seen.total_ms,
    expires_at: null,
  }
}

const imageTasks: TaskSource = {
  kind: 'image',
  list: async (context, accountId, { limit, cursor }) => {
    const before = cursor === undefined ? undefined : `req_${cursor}`
    const filter = { endpoints: IMAGE_ENDPOINTS }
    const found = await context.services.records.search(accountId, { filter, cursor: before, limit })
    const data = found.records.map((record) => imageTask(context, record))
    return { data, next_cursor: found.next === undefined ? null : ageOf(found.next) }
  },
}

type ChargedLine = Pick<TaskListItem['charges'][number], 'request' | 'endpoint'>

/** The charge lines of a video: its generation and its super-resolution. None before it is completed. */
function linesOf({ requestId, wish, stage }: VideoTask): readonly ChargedLine[] {
  if (stage !== 'completed') return []
  const making = { request: requestId, endpoint: 'videos' }
  return wish.upscale ? [making, { request: upscaleLineId(requestId), endpoint: 'videos.upscale' }] : [making]
}

const wishView = ({ wish }: VideoTask): NonNullable<TaskListItem['wish']> => ({
  resolution: wish.resolution,
  ratio: wish.ratio ?? null,
  seconds: wish.seconds,
  audio: wish.audio,
  seed: wish.seed,
  upscale: wish.upscale
    ? {
        resolution: wish.upscale.resolution ?? null,
        limit: wish.upscale.limit ?? null,
        scene: wish.upscale.scene ?? null,
        version: wish.upscale.version,
        fps: wish.upscale.fps ?? null,
      }
    : null,
})

/** Tasks of an account with their charges and expiries. It needs two queries for any number of tasks. */
async function videoViews(
  { services }: ConsoleContext,
  accountId: string,
  tasks: readonly VideoTask[],
): Promise<TaskListItem[]> {
  const [kept, charged] = await Promise.all([
    services.blobs.keptUntil(tasks.filter(({ stage }) => stage === 'completed').map(({ id }) => id)),
    services.records.charged(
      accountId,
      tasks.flatMap(linesOf).map(({ request }) => request),
    ),
  ])
  return tasks.map((task): TaskListItem => {
    const lines = linesOf(task).map((line) => ({ ...line, charged: charged.get(line.request) ?? 0n }))
    const expiresAtMs = kept.get(task.id)
    return {
      id: task.id,
      request: task.requestId,
      kind: 'video',
      model: task.model,
      endpoint: 'videos',
      status: statusOf(task.stage),
      stage: task.stage,
      progress: task.progress,
      error_code: task.reason ?? null,
      failure: reasonOf(videoFaults, task.reason ?? '') ?? null,
      outputs: task.stage === 'completed' ? 1 : 0,
      held_nano_usd: task.held.toString(),
      charged_nano_usd: lines.reduce((sum, line) => sum + line.charged, 0n).toString(),
      charges: lines.map(({ charged: amount, ...line }) => ({ ...line, charged_nano_usd: amount.toString() })),
      wish: wishView(task),
      created_at: isoTime(task.createdAtMs),
      elapsed_ms: (task.endedAtMs ?? Date.now()) - task.createdAtMs,
      expires_at: expiresAtMs === undefined ? null : isoTime(expiresAtMs),
    }
  })
}

const videoTasks: TaskSource = {
  kind: 'video',
  list: async (context, accountId, { limit, cursor }) => {
    const before = cursor === undefined ? undefined : `req_${cursor}`
    const found = await context.services.tasks.before({ accountId }, { limit: limit + 1, before })
    const data = await videoViews(context, accountId, found.slice(0, limit))
    return { data, next_cursor: found.length > limit ? ageOf(data.at(-1)?.request ?? '') : null }
  },
}

/** Finds a task by the id of its request. A video is also found by its own id. */
export async function findTask(
  context: ConsoleContext,
  accountId: string,
  id: string,
): Promise<TaskListItem | undefined> {
  const { tasks } = context.services
  const video = await tasks.forConsole({ accountId }, id)
  if (video) return (await videoViews(context, accountId, [video]))[0]
  const record = await context.services.records.find(accountId, id)
  return record && IMAGE_ENDPOINTS.includes(String(record['endpoint'])) ? imageTask(context, record) : undefined
}

/** The sources of all kinds. */
const sources: readonly TaskSource[] = [imageTasks, videoTasks]

/** A page of tasks of all kinds, or of one kind. */
export async function listTasks(
  context: ConsoleContext,
  accountId: string,
  { kind, limit, cursor }: TaskPage & { readonly kind?: TaskListItem['kind'] | undefined },
): Promise<PageShape<TaskListItem>> {
  const wanted = sources.filter((source) => kind === undefined || source.kind === kind)
  const pages = await Promise.all(wanted.map((source) => source.list(context, accountId, { limit, cursor })))
  return mergePages(pages, limit)
}

/** Merges the newest items of several lists, so that one cursor serves all of them. */
export function mergePages<T extends { readonly id: string; readonly request?: string }>(
  pages: readonly PageShape<T>[],
  limit: number,
): PageShape<T> {
  // If a list has a next page, nothing older than its last item may be shown yet.
  const ends = pages.flatMap(({ next_cursor: next }) => (next === null ? [] : [next]))
  const horizon = ends.toSorted().at(-1)
  const merged = pages
    .flatMap(({ data }) => data)
    .filter((item) => horizon === undefined || keyOf(item) >= horizon)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
  const data = merged.slice(0, limit)
  const last = data.at(-1)
  const isCut = merged.length > limit && last !== undefined
  return { data, next_cursor: isCut ? keyOf(last) : (horizon ?? null) }
}

/** The id of a video is a secret and contains no time, so the id of its request is used. */
const keyOf = ({ id, request = id }: { readonly id: string; readonly request?: string }): string => ageOf(request)

/** The part of an id after its prefix, which begins with the time. */
const ageOf = (id: string): string => id.slice(id.indexOf('_') + 1)
