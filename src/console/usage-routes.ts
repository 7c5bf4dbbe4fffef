/** Usage over time and the overview. Both are made from the hourly sums. */
import { z } from 'zod'
import { operationRules } from '../admin/rules.ts'
import { inTurns } from '../lib/runtime/end-of-tick.ts'
import { dateOf, dayOf, hourOfDay, isTimeZone, shiftsOf, type Shifts } from '../lib/primitives/time-zone.ts'
import type { RecordFilter } from '../records/records.ts'
import type { UsageSums, UsageGroup, UsageRow } from '../records/usage-rollups.ts'
import { percentile, addUp, USAGE_ROWS_MAX, usageGroups } from '../records/usage-rollups.ts'
import { balanceShape, accountBalanceView } from './account-routes.ts'
import { csvRows, csvText } from './csv.ts'
import type { ConsoleContext } from './context.ts'
import { daysLeft } from './low-balance.ts'
import { refusedCountsShape } from './refused-routes.ts'
import { requestShape, requestView } from './request-view.ts'
import { sayConsoleRefusal } from './refusals.ts'
import {
  isOperator,
  json,
  problem,
  route,
  type RouteContext,
  type Problem,
  type RouteReply,
  type ConsoleRoute,
} from './route.ts'
import { isoTime, nano, time, timeInput } from './shapes.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const count = z.int().min(0)
const sumsShape = z
  .strictObject({
    requests: count,
    failed: count.meta({ description: 'ended before any output, free of charge' }),
    cut: count.meta({ description: 'cut in the middle by the upstream or a limit' }),
    estimated: count.meta({ description: 'the gateway counted the usage, because the upstream reported none' }),
    input_fresh_tokens: count,
    input_cached_tokens: count,
    cache_write_tokens: count,
    output_text_tokens: count,
    output_reasoning_tokens: count,
    input_image_tokens: count,
    output_image_tokens: count,
    images: count,
    video_seconds: count,
    charged_nano_usd: nano,
    first_event_p50_ms: count.nullable(),
    first_event_p95_ms: count.nullable(),
    upstream_cost_nano_usd: nano.optional().meta({ description: 'operators only' }),
  })
  .meta({ id: 'UsageSums' })

const dateAt = (ms: number, shifts: Shifts): string => dateOf(dayOf(ms / HOUR_MS, shifts))

type UsageTotals = { readonly sums: UsageSums; readonly firsts: readonly number[] }

function sumsView({ sums, firsts }: UsageTotals, isOperator: boolean): z.infer<typeof sumsShape> {
  return {
    requests: Number(sums.requests),
    failed: Number(sums.failed),
    cut: Number(sums.cut),
    estimated: Number(sums.estimated),
    input_fresh_tokens: Number(sums.input_fresh),
    input_cached_tokens: Number(sums.input_cached),
    cache_write_tokens: Number(sums.cache_write),
    output_text_tokens: Number(sums.output_text),
    output_reasoning_tokens: Number(sums.output_reasoning),
    input_image_tokens: Number(sums.input_image),
    output_image_tokens: Number(sums.output_image),
    images: Number(sums.images),
    video_seconds: Number(sums.seconds),
    charged_nano_usd: sums.charged.toString(),
    first_event_p50_ms: percentile(firsts, 0.5) ?? null,
    first_event_p95_ms: percentile(firsts, 0.95) ?? null,
    ...(isOperator ? { upstream_cost_nano_usd: sums.upstream_cost.toString() } : {}),
  }
}

const zone = z.string().max(64).refine(isTimeZone, operationRules.time_zone).default('UTC')

const query = z.strictObject({
  from: timeInput.optional().meta({ description: 'left out: a week before the end' }),
  to: timeInput.optional().meta({ description: 'left out: now, with the current hour' }),
  step: z.enum(['hour', 'day']).default('day'),
  time_zone: zone.meta({
    description: 'the time zone of days, such as `Europe/Berlin`; a day begins with its first whole hour of UTC',
  }),
  by: z.enum(['key', 'model', 'endpoint']).optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  endpoint: z.string().optional(),
  format: z.enum(['json', 'csv']).default('json').meta({ description: 'csv: the same rows as a file' }),
})
const allQuery = query.extend({ by: z.enum(usageGroups).optional() })
type Query = z.infer<typeof allQuery>

const usageShape = z
  .strictObject({
    from: time,
    to: time,
    step: z.enum(['hour', 'day']),
    by: z.enum(usageGroups).nullable(),
    total: sumsShape,
    refused: refusedCountsShape,
    data: z.array(
      sumsShape
        .extend({
          time,
          date: z.string().nullable().meta({ description: 'of a day, in the time zone, such as `2026-11-25`' }),
          group: z
            .string()
            .nullable()
            .meta({ description: 'the id of the key or account, or the name of the model or endpoint' }),
          name: z.string().nullable().meta({ description: 'the name for people' }),
        })
        .meta({ id: 'UsageRow' }),
    ),
  })
  .meta({ id: 'Usage' })
type UsageShape = z.infer<typeof usageShape>

function nameOf({ services }: ConsoleContext, by: UsageGroup | undefined, group: string | undefined): string | null {
  if (group === undefined) return null
  if (by === 'key') return services.accounts.findKey(group)?.name ?? group
  return by === 'account' ? (services.accounts.find(group)?.name ?? group) : group
}

/** The range in whole hours, because sums are kept by the hour. */
function rangeOf({ from, to, step }: Query): { fromHour: number; toHour: number } | Problem {
  const toHour = Math.ceil((to === undefined ? Date.now() + 1 : Date.parse(to)) / HOUR_MS)
  const fromHour = from === undefined ? toHour - 7 * 24 : Math.floor(Date.parse(from) / HOUR_MS)
  const most = step === 'hour' ? 31 * 24 : 400 * 24
  if (fromHour >= toHour) return problem(400, 'invalid_value', sayConsoleRefusal('range_backwards'), { param: 'from' })
  if (toHour - fromHour <= most) return { fromHour, toHour }
  return problem(400, 'invalid_value', sayConsoleRefusal('range_too_long', { days: most / 24, step }), {
    param: 'from',
  })
}

async function usage(call: RouteContext<{ account?: string }, Query>): Promise<RouteReply> {
  const { context, params, query: asked } = call
  const range = rangeOf(asked)
  if ('kind' in range) return range
  const { step, by, key: keyId, model, endpoint } = asked
  const shifts = shiftsOf(asked.time_zone, range.fromHour, range.toHour)
  const rows = await context.services.rollups.rows({
    ...range,
    accountId: params.account,
    stepHours: step === 'hour' ? 1 : 24,
    shifts,
    by,
    keyId,
    model,
    endpoint,
  })
  if (rows.length > USAGE_ROWS_MAX) {
    return problem(400, 'too_many_rows', sayConsoleRefusal('rows_too_many', { max: USAGE_ROWS_MAX }))
  }
  const { total, data } = await inPieces(rows, (row) => ({
    time: isoTime(row.startMs),
    date: step === 'day' ? dateAt(row.startMs, shifts) : null,
    group: row.group ?? null,
    name: nameOf(context, by, row.group),
    ...sumsView(row, isOperator(call)),
  }))
  const value: UsageShape = {
    from: isoTime(range.fromHour * HOUR_MS),
    to: isoTime(range.toHour * HOUR_MS),
    step,
    by: by ?? null,
    total: sumsView(total, isOperator(call)),
    refused: [...(await context.services.refused.counted(params.account, range))],
    data,
  }
  if (asked.format === 'json') return json(value)
  const dates = [range.fromHour, range.toHour - 1].map((hour) => dateOf(dayOf(hour, shifts)))
  return csvOf(value, `usage-${dates.join('-')}.csv`)
}

/** This many rows take some milliseconds of the thread. All rows at once would make every stream wait. */
const PIECE_ROWS = 250

/** The rows of an answer and their sum. Other work runs between the pieces. */
async function inPieces<V>(
  rows: readonly UsageRow[],
  view: (row: UsageRow) => V,
): Promise<{ readonly total: UsageTotals; readonly data: V[] }> {
  const sums: ReturnType<typeof addUp>[] = []
  const data: V[] = []
  for await (const piece of inTurns(rows, PIECE_ROWS)) {
    sums.push(addUp(piece))
    data.push(...piece.map(view))
  }
  return { total: addUp(sums), data }
}

async function csvOf({ data, total }: UsageShape, name: string): Promise<RouteReply> {
  const columns = ['time', 'date', 'group', 'name', ...Object.keys(total)]
  const pieces = [csvText(columns, [])]
  for await (const piece of inTurns(data, PIECE_ROWS)) pieces.push(csvRows(columns, piece))
  return { kind: 'file', contentType: 'text/csv; charset=utf-8', name, text: pieces.join('') }
}

const ranges = {
  '24h': { days: 1, stepHours: 1 },
  '7d': { days: 7, stepHours: 1 },
  '30d': { days: 30, stepHours: 24 },
} as const

const overviewShape = z
  .strictObject({
    balance: balanceShape,
    spent_nano_usd: nano.meta({ description: 'in the range, in nano-USD' }),
    days_left: z.number().nullable().meta({ description: 'at the pace of the range; null: nothing was spent' }),
    low_balance_nano_usd: nano
      .nullable()
      .meta({ description: 'the console warns the account below this balance; null: never' }),
    step: z.enum(['hour', 'day']),
    total: sumsShape,
    series: z.array(sumsShape.extend({ time })).meta({ description: 'hours or days without requests are left out' }),
    last_failures: z.array(requestShape),
    first_steps: z.strictObject({ has_key: z.boolean(), has_called: z.boolean(), has_succeeded: z.boolean() }),
    open_holds: z.int(),
  })
  .meta({ id: 'Overview' })

async function overview(
  call: RouteContext<{ account: string }, { range: keyof typeof ranges; time_zone: string }>,
): Promise<RouteReply> {
  const { context, params } = call
  const { days, stepHours } = ranges[call.query.range]
  const toHour = Math.ceil((Date.now() + 1) / HOUR_MS)
  const shifts = shiftsOf(call.query.time_zone, toHour - (days + 1) * 24, toHour)
  // If days are shown, the range is whole days up to today, so that the amount spent is the sum of the days.
  const fromHour = stepHours === 1 ? toHour - days * 24 : hourOfDay(dayOf(toHour - 1, shifts) - days + 1, shifts)
  const asked = {
    accountId: params.account,
    fromHour,
    toHour,
    stepHours,
    shifts,
    by: undefined,
  }
  const { services } = context
  const [rows, failed, openHolds] = await Promise.all([
    services.rollups.rows(asked),
    services.records.search(params.account, { filter: { outcome: 'failed' }, limit: 5 }),
    services.books.countOpenHolds(params.account),
  ])
  const total = addUp(rows)
  const keys = services.accounts.keysOf(params.account)
  const isThere = async (filter: RecordFilter): Promise<boolean> =>
    (await services.records.search(params.account, { filter, limit: 1 })).records.length > 0
  const hasSucceeded = total.sums.requests > total.sums.failed || (await isThere({ outcome: 'completed' }))
  const hasCalled = hasSucceeded || (await isThere({}))
  await services.ledger.refresh([params.account])
  return json({
    balance: accountBalanceView(context, params.account),
    spent_nano_usd: total.sums.charged.toString(),
    days_left: daysLeft(services.ledger.balance(params.account).available, total.sums.charged, toHour - fromHour),
    low_balance_nano_usd: services.accounts.find(params.account)?.lowBalance?.toString() ?? null,
    step: stepHours === 1 ? 'hour' : 'day',
    total: sumsView(total, isOperator(call)),
    series: rows.map((row: UsageRow) => ({ time: isoTime(row.startMs), ...sumsView(row, isOperator(call)) })),
    last_failures: failed.records.map((record) => requestView(context, record, { isOperator: isOperator(call) })),
    first_steps: {
      has_key: keys.some(({ revokedAtMs }) => revokedAtMs === undefined),
      has_called: hasCalled,
      has_succeeded: hasSucceeded,
    },
    open_holds: openHolds,
  })
}

export const usageRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/overview', {
    access: 'account_read',
    summary: 'Get everything on the first page of an account: balance and pace, charts, last failures, first steps.',
    query: z.strictObject({ range: z.enum(['24h', '7d', '30d']).default('7d'), time_zone: zone }),
    answer: overviewShape,
    run: overview,
  }),
  route('GET', '/accounts/{account}/usage', {
    access: 'account_read',
    summary:
      'Get the usage of an account by hour or day, and by key, model or endpoint. The total is what the ledger charged.',
    query,
    answer: usageShape,
    run: usage,
  }),
  route('GET', '/usage', {
    access: 'operator',
    summary: 'Get the usage of all accounts.',
    query: allQuery,
    answer: usageShape,
    run: usage,
  }),
]
