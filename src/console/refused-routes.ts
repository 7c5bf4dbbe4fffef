/** Requests that were refused before any money was held: what a client's request id leads to then. */
import { z } from 'zod'
import type { KeptRefusal } from '../records/refused.ts'
import { json, missing, route, type ConsoleRoute } from './route.ts'
import { isoTime, pageOf, pageQuery, time, timeInput } from './shapes.ts'

const refusalShape = z
  .strictObject({
    id: z.string(),
    created_at: time,
    key: z.string().nullable().meta({ description: 'id of the key, also of one that is revoked' }),
    method: z.string(),
    endpoint: z.string().meta({ description: 'as requests name it; the path, where it is none that generates' }),
    model: z.string().nullable().meta({ description: 'as it was asked for, where it was read and could be a name' }),
    status: z.int(),
    code: z.string().meta({ description: 'as the client was told' }),
    repeats: z.int().meta({ description: 'how many like it followed within the minute, without rows of their own' }),
    last_at: time,
  })
  .meta({ id: 'RefusedRequest' })

const refusalView = (kept: KeptRefusal): z.infer<typeof refusalShape> => ({
  id: kept.id,
  created_at: isoTime(kept.atMs),
  key: kept.keyId ?? null,
  method: kept.method,
  endpoint: kept.endpoint,
  model: kept.model ?? null,
  status: kept.status,
  code: kept.code,
  repeats: kept.repeats,
  last_at: isoTime(kept.lastAtMs),
})

export const refusedCountsShape = z
  .array(z.strictObject({ status: z.int(), code: z.string(), requests: z.int() }))
  .meta({ description: 'requests that were refused before any money was held, the most first; they are no `requests`' })

export const refusedRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/refused-requests', {
    access: 'account_read',
    summary: 'Requests that were refused before any money was held, newest first: the newest thousand are kept.',
    query: z.strictObject({
      ...pageQuery,
      code: z.string().max(100).optional(),
      status: z.coerce.number().int().min(400).max(599).optional(),
      key: z.string().optional(),
      model: z.string().optional(),
      endpoint: z.string().optional(),
      from: timeInput.optional(),
      to: timeInput.optional(),
    }),
    answer: pageOf(refusalShape),
    run: async ({ context, params, query: { limit, cursor, key, from, to, ...filter } }) => {
      const rows = await context.services.refused.list(params.account, {
        ...filter,
        limit: limit + 1,
        before: cursor,
        keyId: key,
        fromMs: from === undefined ? undefined : Date.parse(from),
        toMs: to === undefined ? undefined : Date.parse(to),
      })
      const data = rows.slice(0, limit).map(refusalView)
      return json({ data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null })
    },
  }),
  route('GET', '/accounts/{account}/refused-requests/{request}', {
    access: 'account_read',
    summary: 'One that was refused, by its request id; or the one that stands for it, where many came at once.',
    answer: refusalShape,
    run: async ({ context, params }) => {
      const kept = await context.services.refused.find(params.request, params.account)
      return kept ? json(refusalView(kept)) : missing('request')
    },
  }),
]
