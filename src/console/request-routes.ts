/** Requests of an account, and its tasks: what takes long enough to be waited for. */
import { z } from 'zod'
import { listTasks, taskShape } from './tasks.ts'
import { requestDetail, requestDetailShape, requestShape, requestView } from './request-view.ts'
import { json, missing, route, type Call, type Route } from './route.ts'
import { nanoInput, pageOf, pageQuery, timeInput } from './shapes.ts'

const listQuery = z.strictObject({
  ...pageQuery,
  key: z.string().optional(),
  model: z.string().optional(),
  endpoint: z.string().optional(),
  outcome: z.enum(['completed', 'failed', 'cut', 'client_closed', 'barred']).optional(),
  status: z.coerce.number().int().min(100).max(599).optional(),
  provider: z.string().optional().meta({ description: 'operators only; of no effect for others' }),
  charged_min_nano_usd: nanoInput.optional(),
  total_ms_min: z.coerce.number().int().min(0).optional(),
  from: timeInput.optional(),
  to: timeInput.optional(),
})

const isOperator = ({ principal }: Pick<Call, 'principal'>): boolean =>
  principal.kind !== 'nobody' && principal.role === 'operator'

const PAGE = 'A page may have fewer rows than asked for, even none, and still go on: the next one reads on from there.'

export const requestRoutes: readonly Route[] = [
  route('GET', '/accounts/{account}/requests', {
    access: 'account_read',
    summary: `Requests that held money, newest first. ${PAGE}`,
    query: listQuery,
    answer: pageOf(requestShape),
    run: async (call) => {
      const { desk, params, query } = call
      const viewer = { isOperator: isOperator(call) }
      const { records, next } = await desk.office.searchRecords(params.account, {
        limit: query.limit,
        cursor: query.cursor,
        filter: {
          keyId: query.key,
          model: query.model,
          endpoints: query.endpoint === undefined ? undefined : [query.endpoint],
          outcome: query.outcome,
          status: query.status,
          providerId: viewer.isOperator ? query.provider : undefined,
          chargedMin: query.charged_min_nano_usd,
          totalMsMin: query.total_ms_min,
          fromMs: query.from === undefined ? undefined : Date.parse(query.from),
          toMs: query.to === undefined ? undefined : Date.parse(query.to),
        },
      })
      return json({ data: records.map((record) => requestView(desk, record, viewer)), next_cursor: next ?? null })
    },
  }),
  route('GET', '/accounts/{account}/requests/{request}', {
    access: 'account_read',
    summary: 'One request: attempts, phases, the lines of its price, what was held and what was charged.',
    answer: requestDetailShape,
    run: async (call) => {
      const record = await call.desk.office.request(call.params.account, call.params.request)
      return record
        ? json(await requestDetail(call.desk, record, { isOperator: isOperator(call) }))
        : missing('request')
    },
  }),
  route('GET', '/requests/{request}', {
    access: 'operator',
    summary: 'One request, of whichever account.',
    answer: requestDetailShape.extend({ account: z.string() }),
    run: async ({ desk, params }) => {
      const record = await desk.office.findAnywhere(params.request)
      if (!record) return missing('request')
      const account = String(record['account_id'])
      return json({ ...(await requestDetail(desk, record, { isOperator: true })), account })
    },
  }),
  route('GET', '/accounts/{account}/tasks', {
    access: 'account_read',
    summary: 'Images, and what else takes its time, newest first.',
    query: z.strictObject({ ...pageQuery, kind: z.enum(['image', 'video']).optional() }),
    answer: pageOf(taskShape),
    run: async ({ desk, params, query }) => json(await listTasks(desk, params.account, query)),
  }),
]
