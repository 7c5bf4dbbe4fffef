/**
 * Tasks: what takes long enough to be waited for. Each kind is a source; a new kind is one more. The list merges them
 * by the request that each began with, whose id has the time in it.
 */
import { z } from 'zod'
import { statusOf, type VideoTask } from '../domain/video-task.ts'
import type { Desk } from './desk.ts'
import { requestView } from './request-view.ts'
import { isoTime, nano, time, type Page } from './shapes.ts'

export const taskShape = z.strictObject({
  id: z.string(),
  request: z.string().meta({ description: 'the request it began with; its detail has attempts and price' }),
  kind: z.enum(['image', 'video']),
  model: z.string(),
  endpoint: z.string(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  stage: z.string().nullable().meta({ description: 'of a video: submitting, queued, running, upscaling, storing, …' }),
  progress: z.int().min(0).max(100).nullable().meta({ description: 'null: not known' }),
  error: z.string().nullable().meta({ description: 'a code, or of a video the reason' }),
  outputs: z.int().meta({ description: 'images or videos that came of it' }),
  held_nano_usd: nano,
  charged_nano_usd: nano.nullable().meta({ description: 'in nano-USD; null: not settled yet' }),
  content_path: z.string().nullable().meta({ description: 'where a finished video is, below the public address' }),
  created_at: time,
  elapsed_ms: z.int(),
})
export type Task = z.infer<typeof taskShape>

/** A cursor is an id without its prefix: what is older than it comes next, of whichever kind. */
type Paging = { readonly limit: number; readonly cursor?: string | undefined }

type TaskSource = {
  readonly kind: Task['kind']
  /** Newest first, older than the cursor. */
  readonly list: (desk: Desk, accountId: string, paging: Paging) => Promise<Page<Task>>
}

const IMAGE_ENDPOINTS = ['images.generations', 'images.edits']

const imageTasks: TaskSource = {
  kind: 'image',
  list: async (desk, accountId, { limit, cursor }) => {
    const before = cursor === undefined ? undefined : `req_${cursor}`
    const filter = { endpoints: IMAGE_ENDPOINTS }
    const found = await desk.office.searchRecords(accountId, { filter, cursor: before, limit })
    const data = found.records.map((record): Task => {
      const seen = requestView(desk, record, { isOperator: false })
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
        error: seen.error_code,
        outputs: seen.images,
        held_nano_usd: seen.held_nano_usd,
        charged_nano_usd: seen.charged_nano_usd,
        content_path: null,
        created_at: seen.created_at,
        elapsed_ms: seen.total_ms,
      }
    })
    return { data, next_cursor: found.next === undefined ? null : ageOf(found.next) }
  },
}

const videoTasks: TaskSource = {
  kind: 'video',
  list: async (desk, accountId, { limit, cursor }) => {
    const before = cursor === undefined ? undefined : `req_${cursor}`
    const found = await desk.office.videos(accountId, { before, limit: limit + 1 })
    const shown = found.slice(0, limit)
    const data = await Promise.all(shown.map((task) => videoView(desk, task)))
    const last = shown.at(-1)
    return { data, next_cursor: found.length > limit && last ? ageOf(last.requestId) : null }
  },
}

async function videoView({ office }: Desk, task: VideoTask): Promise<Task> {
  const { id, requestId, stage, createdAtMs, endedAtMs } = task
  const status = statusOf(stage)
  const record = endedAtMs === undefined ? undefined : await office.request(task.accountId, requestId)
  const charged = record?.['charged']
  return {
    id,
    request: requestId,
    kind: 'video',
    model: task.model,
    endpoint: 'videos',
    status,
    stage,
    progress: task.progress,
    error: task.reason ?? null,
    outputs: status === 'completed' ? 1 : 0,
    held_nano_usd: task.held.toString(),
    charged_nano_usd: typeof charged === 'bigint' ? charged.toString() : null,
    content_path: status === 'completed' ? `/v1/videos/${id}/content` : null,
    created_at: isoTime(createdAtMs),
    elapsed_ms: Math.max(0, (endedAtMs ?? Date.now()) - createdAtMs),
  }
}

/** All kinds there are. */
const sources: readonly TaskSource[] = [imageTasks, videoTasks]

/** A page of all kinds, or of one. */
export async function listTasks(
  desk: Desk,
  accountId: string,
  { kind, limit, cursor }: Paging & { readonly kind?: Task['kind'] | undefined },
): Promise<Page<Task>> {
  const wanted = sources.filter((source) => kind === undefined || source.kind === kind)
  const pages = await Promise.all(wanted.map((source) => source.list(desk, accountId, { limit, cursor })))
  return mergePages(pages, limit)
}

/** The newest of several lists, so that one cursor serves them all. */
export function mergePages<T extends { readonly request: string }>(pages: readonly Page<T>[], limit: number): Page<T> {
  // Where one list has more to come, nothing older than its last may be shown yet.
  const ends = pages.flatMap(({ next_cursor: next }) => (next === null ? [] : [next]))
  const horizon = ends.toSorted().at(-1)
  const merged = pages
    .flatMap(({ data }) => data)
    .filter(({ request }) => horizon === undefined || ageOf(request) >= horizon)
    .toSorted((a, b) => (a.request < b.request ? 1 : -1))
  const data = merged.slice(0, limit)
  const last = data.at(-1)
  const isCut = merged.length > limit && last !== undefined
  return { data, next_cursor: isCut ? ageOf(last.request) : (horizon ?? null) }
}

/** Ids of requests have their time behind the prefix. */
const ageOf = (id: string): string => id.slice(id.indexOf('_') + 1)
