/** Requests that were refused before any money was held. A client's request id finds them. */
import { z } from 'zod'
import type { KeptRefusal } from '../records/refused.ts'
import { json, missing, route, type ConsoleRoute } from './route.ts'
import { isoTime, pageOf, pageQuery, time, timeInput } from './shapes.ts'

const refusalShape = z
  .strictObject({
    id: z.string(),
    created_at: time,
    key: z.string().nullable().meta({ description: 'id of the key, also if it is revoked' }),
    method: z.string(),
    endpoint: z.string().meta({ description: 'the name of the endpoint, or the path if it does not generate' }),
    model: z.string().nullable().meta({ description: 'as requested, if it was read and can be a name' }),
    status: z.int(),
    code: z.string().meta({ description: 'the code that the client received' }),
    repeats: z
      .int()
      .meta({ description: 'the number of similar refusals within the minute that have no row of their own' }),
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
  .meta({
    description:
      'requests that were refused before any money was held, most frequent first; they do not count as `requests`',
  })

export const refusedRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/refused-requests', {
    access: 'account_read',
    summary: 'List requests that were refused before any money was held, newest first. The newest thousand are kept.',
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
    summary: 'Get a refused request by its request id, or the row that stands for it if many came at once.',
    answer: refusalShape,
    run: async ({ context, params }) => {
      const kept = await context.services.refused.find(params.request, params.account)
      return kept ? json(refusalView(kept)) : missing('request')
    },
  }),
]
