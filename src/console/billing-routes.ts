/** The money of an account: monthly statements, open holds, and codes to redeem. */
import { z } from 'zod'
import type { AccountPrice } from '../catalog/account-prices.ts'
import { formatFactor } from '../domain/price-factor.ts'
import { ownReasonOf } from '../ledger/system-reasons.ts'
import { networkOf } from '../lib/primitives/network.ts'
import { operationRules } from '../admin/rules.ts'
import { accountIn, balanceShape, accountBalanceView } from './account-routes.ts'
import type { ConsoleContext } from './context.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { answer, json, problem, route, type RouteReply, type ConsoleRoute } from './route.ts'
import { basisShape } from './price-view.ts'
import { isoTime, isoTimeOrNull, nano, pageOf, pageQuery, time } from './shapes.ts'
import { linesOf, type StatementLine } from './statement.ts'
import { csvText } from './csv.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const lineShape = z.strictObject({
  time: time.meta({ description: 'of the booking; for charges, the end of their day (UTC) or the next booking in it' }),
  kind: z.enum(['credit', 'debit', 'refund', 'charges']),
  amount_nano_usd: nano,
  balance_nano_usd: nano.meta({ description: 'after it, in nano-USD' }),
  ref: z.string().nullable(),
  reason: z.string().nullable(),
  requests: z.int().nullable().meta({ description: 'of the day’s charges; null if a booking divides them' }),
})
const statementShape = z
  .strictObject({
    month: z.string(),
    opening_nano_usd: nano,
    credits_nano_usd: nano,
    debits_nano_usd: nano,
    charges_nano_usd: nano,
    closing_nano_usd: nano,
    data: z
      .array(
        lineShape
          .extend({
            own: z
              .strictObject({ code: z.string(), facts: z.record(z.string(), z.union([z.string(), z.number()])) })
              .nullable()
              .meta({ description: 'the reason as data; null: a person typed it' }),
          })
          .meta({ id: 'LedgerLine' }),
      )
      .meta({ description: 'newest first' }),
    prices: z
      .array(
        z
          .strictObject({
            model: z.string().nullable().meta({ description: 'null: every model without a price of its own' }),
            basis: basisShape.exclude(['model']),
            factor: z.string().nullable(),
            from: time,
            until: time.nullable().meta({ description: 'null: it is in force' }),
          })
          .meta({ id: 'PaidPrice' }),
      )
      .meta({ description: 'prices of the account that were in force in this month, oldest first' }),
    next_cursor: z.string().nullable().meta({ description: 'the month before; null: the account did not exist then' }),
  })
  .meta({ id: 'Statement' })
type BillingStatement = z.infer<typeof statementShape>

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/
const month = z.string().regex(MONTH, operationRules.month)

const monthOf = (ms: number): string => isoTime(ms).slice(0, 7)
function monthRange(text: string): { readonly fromMs: number; readonly toMs: number } {
  const [year = 0, number = 1] = text.split('-').map(Number)
  return { fromMs: Date.UTC(year, number - 1), toMs: Date.UTC(year, number) }
}

/** The statement of one month. */
async function statementOf(
  context: ConsoleContext,
  accountId: string,
  { of, createdAtMs }: { of: string; createdAtMs: number },
): Promise<BillingStatement> {
  const { fromMs, toMs } = monthRange(of)
  // The balance comes from the same snapshot. The one in memory would differ while requests are charged.
  const { posted, bookings, days } = await context.services.movements.since(accountId, fromMs / HOUR_MS)
  const charges = days.map(({ startMs, sums }) => ({ startMs, amount: sums.charged, requests: Number(sums.requests) }))
  const since = linesOf({ bookings, charges }, posted)
  const { opening } = since
  const lines = since.lines.filter(({ atMs }) => atMs < toMs)
  const moved = (...kinds: readonly StatementLine['kind'][]): bigint =>
    lines.reduce((sum, { kind, amount }) => (kinds.includes(kind) ? sum + amount : sum), 0n)
  return {
    month: of,
    opening_nano_usd: opening.toString(),
    credits_nano_usd: moved('credit', 'refund').toString(),
    debits_nano_usd: moved('debit').toString(),
    charges_nano_usd: moved('charges').toString(),
    closing_nano_usd: (lines.at(-1)?.balance ?? opening).toString(),
    data: lines.toReversed().map(({ atMs, amount, balance, ...line }) => ({
      ...line,
      own: ownOf(line),
      time: isoTime(atMs),
      amount_nano_usd: amount.toString(),
      balance_nano_usd: balance.toString(),
    })),
    prices: pricesIn(await context.services.catalog.accountPriceHistory(accountId), { fromMs, toMs }),
    next_cursor: fromMs > createdAtMs ? monthOf(fromMs - 1) : null,
  }
}

/** The prices that were in force at any time of a range. `history` is newest first. */
function pricesIn(
  history: readonly AccountPrice[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BillingStatement['prices'] {
  const endedAt = new Map<string | undefined, number>()
  const prices: BillingStatement['prices'] = []
  for (const { modelId, effectiveFromMs, value } of history) {
    const untilMs = endedAt.get(modelId)
    endedAt.set(modelId, effectiveFromMs)
    if (value.kind === 'none' || effectiveFromMs >= toMs || (untilMs !== undefined && untilMs <= fromMs)) continue
    prices.unshift({
      model: modelId ?? null,
      basis: value.kind,
      factor: value.kind === 'factor' ? formatFactor(value.factor) : null,
      from: isoTime(effectiveFromMs),
      until: isoTimeOrNull(untilMs),
    })
  }
  return prices
}

function ownOf({ ref, reason }: Pick<StatementLine, 'ref' | 'reason'>): BillingStatement['data'][number]['own'] {
  const own = ref === null || reason === null ? undefined : ownReasonOf(ref, reason)
  return own ? { code: own.reason, facts: own.facts } : null
}

function fileOf(statement: BillingStatement): RouteReply {
  const columns = Object.keys(lineShape.shape)
  const rows = statement.data.map((line) => {
    const { own: _, ...row } = line
    return row
  })
  const text = csvText(columns, rows)
  return { kind: 'file', contentType: 'text/csv; charset=utf-8', name: `statement-${statement.month}.csv`, text }
}

const redeem = route('POST', '/accounts/{account}/redemptions', {
  access: 'account_write',
  summary: 'Redeem a code. Its amount is added to the balance once.',
  body: z.strictObject({ code: z.string().min(1).max(100) }),
  answer: z.strictObject({ amount_nano_usd: nano, balance: balanceShape }),
  run: async (call) => {
    const { context, params, body, from } = call
    const waitMs = await context.throttles.addresses.take(networkOf(from.address))
    if (waitMs > 0)
      return problem(429, 'rate_limit_exceeded', sayConsoleRefusal('too_many_tries'), { retryAfterMs: waitMs })
    const result = await call.operate('code.redeem', { account: params.account, code: body.code })
    if (!result.ok && result.code === 'not_found') {
      return problem(404, 'code_void', sayConsoleRefusal('code_void'), { param: 'code' })
    }
    if (!result.ok) return answer(result, () => undefined)
    await context.throttles.addresses.giveBack(networkOf(from.address))
    const { amount_nano_usd: amount } = result.value as { amount_nano_usd: string }
    return json({ amount_nano_usd: amount, balance: accountBalanceView(context, params.account) })
  },
})

export const billingRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/ledger', {
    access: 'account_read',
    summary: 'List the ledger of an account, one month per page: bookings, charges by day, and the balance after each.',
    query: z.strictObject({
      cursor: month.optional().meta({ description: 'a month; left out: the current one' }),
      format: z.enum(['json', 'csv']).default('json'),
    }),
    answer: statementShape,
    run: async (call) => {
      const { createdAtMs } = accountIn(call)
      const current = monthOf(Date.now())
      const of = call.query.cursor ?? current
      if (of > current) return problem(400, 'invalid_value', sayConsoleRefusal('month_to_come'), { param: 'cursor' })
      const statement = await statementOf(call.context, call.params.account, { of, createdAtMs })
      return call.query.format === 'csv' ? fileOf(statement) : json(statement)
    },
  }),
  route('GET', '/accounts/{account}/holds', {
    access: 'account_read',
    summary: 'List open holds, oldest first.',
    query: z.strictObject(pageQuery),
    answer: pageOf(z.strictObject({ request: z.string(), amount_nano_usd: nano, created_at: time })).extend({
      held_nano_usd: nano,
    }),
    run: async ({ context, params, query: { limit, cursor: after } }) => {
      const holds = await context.services.books.openHolds(params.account, { after, limit: limit + 1 })
      const data = holds.slice(0, limit).map(({ id, amount, createdAtMs }) => ({
        request: id,
        amount_nano_usd: amount.toString(),
        created_at: isoTime(createdAtMs),
      }))
      const next_cursor = holds.length > limit ? (data.at(-1)?.request ?? null) : null
      return json({ held_nano_usd: context.services.ledger.balance(params.account).held.toString(), data, next_cursor })
    },
  }),
  redeem,
]
