/**
 * Tasks: what takes long enough to be waited for. Each kind is a source; a new kind is one more. The list merges them
 * by id, which has the time in it.
 */
import { z } from 'zod'
import type { Desk } from './desk.ts'
import { requestView } from './request-view.ts'
import { nano, time, type Page } from './shapes.ts'

export const taskShape = z.strictObject({
  id: z.string(),
  kind: z.enum(['image', 'video']),
  model: z.string(),
  endpoint: z.string(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  progress: z.int().min(0).max(100).nullable().meta({ description: 'null: not known' }),
  error_code: z.string().nullable(),
  outputs: z.int().meta({ description: 'images or videos that came of it' }),
  held_nano_usd: nano,
  charged_nano_usd: nano,
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
        kind: 'image',
        model: seen.model,
        endpoint: seen.endpoint,
        status: isDone ? 'completed' : 'failed',
        progress: isDone ? 100 : null,
        error_code: seen.error_code,
        outputs: seen.images,
        held_nano_usd: seen.held_nano_usd,
        charged_nano_usd: seen.charged_nano_usd,
        created_at: seen.created_at,
        elapsed_ms: seen.total_ms,
      }
    })
    return { data, next_cursor: found.next === undefined ? null : ageOf(found.next) }
  },
}

/** All kinds there are. */
const sources: readonly TaskSource[] = [imageTasks]

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
export function mergePages<T extends { readonly id: string }>(pages: readonly Page<T>[], limit: number): Page<T> {
  // Where one list has more to come, nothing older than its last may be shown yet.
  const ends = pages.flatMap(({ next_cursor: next }) => (next === null ? [] : [next]))
  const horizon = ends.toSorted().at(-1)
  const merged = pages
    .flatMap(({ data }) => data)
    .filter(({ id }) => horizon === undefined || ageOf(id) >= horizon)
    .toSorted((a, b) => (ageOf(a.id) < ageOf(b.id) ? 1 : -1))
  const data = merged.slice(0, limit)
  const last = data.at(-1)
  const isCut = merged.length > limit && last !== undefined
  return { data, next_cursor: isCut ? ageOf(last.id) : (horizon ?? null) }
}

/** Ids of all kinds have their time behind the prefix. */
const ageOf = (id: string): string => id.slice(id.indexOf('_') + 1)
