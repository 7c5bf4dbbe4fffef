/** Requests of an account, and its tasks, which are requests that take long. */
import { z } from 'zod'
import { watchBounds } from '../records/feed.ts'
import { storedForm } from '../records/record-row.ts'
import type { RecordFilter } from '../records/records.ts'
import { fits } from '../records/search.ts'
import type { Principal } from './access.ts'
import type { ConsoleContext } from './context.ts'
import { findTask, listTasks, taskShape } from './tasks.ts'
import { shareOfPrincipal } from './principal.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { requestDetail, requestDetailShape, requestShape, requestView } from './request-view.ts'
import {
  isOperator,
  json,
  missing,
  problem,
  route,
  type RouteContext,
  type Problem,
  type RouteReply,
  type ConsoleRoute,
} from './route.ts'
import { nanoInput, pageOf, pageQuery, timeInput, type PageShape } from './shapes.ts'
import { Tail } from './tail.ts'

const filterQuery = {
  key: z.string().optional(),
  model: z.string().optional(),
  endpoint: z.string().optional(),
  outcome: z.enum(['completed', 'failed', 'cut', 'client_closed', 'barred']).optional(),
  status: z.coerce.number().int().min(100).max(599).optional(),
  provider: z.string().optional().meta({ description: 'for operators; it has no effect for others' }),
  charged_min_nano_usd: nanoInput.optional(),
  total_ms_min: z.coerce.number().int().min(0).optional(),
  from: timeInput.optional(),
  to: timeInput.optional(),
}
const listQuery = z.strictObject({ ...pageQuery, ...filterQuery })
const tailQuery = z.strictObject({ limit: pageQuery.limit, ...filterQuery })
type Filters = z.infer<z.ZodObject<typeof filterQuery>>

type Viewer = { readonly isOperator: boolean }

function filterOf(query: Filters, { isOperator: isTheirs }: Viewer): RecordFilter {
  return {
    keyId: query.key,
    model: query.model,
    endpoints: query.endpoint === undefined ? undefined : [query.endpoint],
    outcome: query.outcome,
    status: query.status,
    providerId: isTheirs ? query.provider : undefined,
    chargedMin: query.charged_min_nano_usd,
    totalMsMin: query.total_ms_min,
    fromMs: query.from === undefined ? undefined : Date.parse(query.from),
    toMs: query.to === undefined ? undefined : Date.parse(query.to),
  }
}

const PAGE =
  'A page may have fewer rows than the limit, or none, although there are more. The next page goes on from there.'

const { rowsPerPushMax, pushMs } = watchBounds
const LIVE = `At most ${rowsPerPushMax} rows at a time, ${Math.floor(1000 / pushMs)} times a second. It ends with the session.`

const tailEvent = z.discriminatedUnion('type', [
  pageOf(requestShape)
    .extend({ type: z.literal('start') })
    .meta({ description: 'the first event: a page of the list' }),
  z.strictObject({
    type: z.literal('rows'),
    data: z.array(requestShape).meta({ description: 'requests that have ended, newest first' }),
    more: z.int().min(0).meta({ description: 'the number of older requests that were left out' }),
  }),
  z.strictObject({ type: z.literal('end'), reason: z.enum(['not_allowed', 'shutdown']) }),
])

async function pageOfRequests(
  { context, principal }: Pick<RouteContext, 'context' | 'principal'>,
  account: string,
  query: Filters & { readonly limit: number; readonly cursor?: string | undefined },
): Promise<PageShape<z.infer<typeof requestShape>>> {
  const viewer = { isOperator: isOperator({ principal }) }
  const { limit, cursor } = query
  const { records, next } = await context.services.records.search(account, {
    limit,
    cursor,
    filter: filterOf(query, viewer),
  })
  return { data: records.map((record) => requestView(context, record, viewer)), next_cursor: next ?? null }
}

async function watchRequests(call: RouteContext<{ account: string }, z.infer<typeof tailQuery>>): Promise<RouteReply> {
  const { context, principal, params, query } = call
  const place = takePlace(context, principal)
  if ('kind' in place) return place
  const viewer = { isOperator: isOperator(call) }
  const filter = filterOf(query, viewer)
  const tail = new Tail({
    feed: context.services.feed,
    account: params.account,
    fits: (record) => fits(filter, record),
    view: (record) => requestView(context, storedForm(record), viewer),
    stands: call.stands,
    onClosed: place.giveBack,
  })
  try {
    await context.services.feed.caughtUp()
    return { kind: 'events', tail, first: await pageOfRequests(call, params.account, query) }
  } catch (error) {
    tail.close()
    throw error
  }
}

/** Takes one live list of the person and one of the account. Operators belong to no account and need only the first. */
function takePlace({ watching, watchingOfAccounts }: ConsoleContext, principal: Principal): Place | Problem {
  if (principal.kind === 'nobody') throw new Error('the request has no principal')
  const own = watching.of(shareOfPrincipal(principal))
  const ofAccount = principal.accountId === undefined ? undefined : watchingOfAccounts.of(principal.accountId)
  const taken = own.take(1, 0)
  if (taken !== 'taken') return taken === 'full' ? FULL : enough('watching_enough', watchBounds.watchersPerUserMax)
  if (ofAccount && ofAccount.take(1, 0) !== 'taken') {
    own.give(1)
    return enough('account_watching_enough', watchBounds.watchersPerAccountMax)
  }
  return {
    giveBack() {
      own.give(1)
      ofAccount?.give(1)
    },
  }
}
type Place = { readonly giveBack: () => void }

const enough = (reason: 'watching_enough' | 'account_watching_enough', max: number): Problem =>
  problem(429, 'rate_limit_exceeded', sayConsoleRefusal(reason, { max }), { retryAfterMs: 10_000 })
const FULL = problem(503, 'service_unavailable', sayConsoleRefusal('watching_full'), { retryAfterMs: 30_000 })

export const requestRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/requests', {
    access: 'account_read',
    summary: `List requests that held money, newest first. ${PAGE}`,
    query: listQuery,
    answer: pageOf(requestShape),
    run: async (call) => {
      const { params, query } = call
      return json(await pageOfRequests(call, params.account, query))
    },
  }),
  route('GET', '/accounts/{account}/requests/live', {
    access: 'account_read',
    summary: `Watch requests as server-sent events: the newest first, then each request as it ends. ${LIVE}`,
    query: tailQuery,
    answer: tailEvent,
    answers: 'events',
    run: (call) => watchRequests(call),
  }),
  route('GET', '/accounts/{account}/requests/{request}', {
    access: 'account_read',
    summary: 'Get one request: attempts, phases, price lines, hold and charge.',
    answer: requestDetailShape,
    run: async (call) => {
      const record = await call.context.services.records.find(call.params.account, call.params.request)
      return record
        ? json(await requestDetail(call.context, record, { isOperator: isOperator(call) }))
        : missing('request')
    },
  }),
  route('GET', '/requests/{request}', {
    access: 'operator',
    summary: 'Get one request of any account.',
    answer: requestDetailShape.extend({ account: z.string() }),
    run: async ({ context, params }) => {
      const record = await context.services.records.findAnywhere(params.request)
      if (!record) return missing('request')
      const account = String(record['account_id'])
      return json({ ...(await requestDetail(context, record, { isOperator: true })), account })
    },
  }),
  route('GET', '/accounts/{account}/tasks', {
    access: 'account_read',
    summary: 'List tasks, such as images and videos, newest first.',
    query: z.strictObject({ ...pageQuery, kind: z.enum(['image', 'video']).optional() }),
    answer: pageOf(taskShape),
    run: async ({ context, params, query }) => json(await listTasks(context, params.account, query)),
  }),
  route('GET', '/accounts/{account}/tasks/{task}', {
    access: 'account_read',
    summary: 'Get one task by the id of its request. A video can also be found by its own id.',
    answer: taskShape,
    run: async ({ context, params }) => {
      const task = await findTask(context, params.account, params.task)
      return task ? json(task) : missing('task')
    },
  }),
]
