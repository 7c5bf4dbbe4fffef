/**
 * The rows of limit counters in PostgreSQL, table `meter`. They say what each key, account and model with limits has
 * used, on all instances together.
 */
import type { Limits } from '../domain/limits.ts'
import type { NanoUsd } from '../domain/money.ts'
import { TokenBucket } from '../lib/primitives/token-bucket.ts'
import { addingStatement, statement, type Row, type WriteStep } from '../store/statement.ts'
import type { Queryable } from '../store/store.ts'
import type { LimitUse } from './limit-rules.ts'
import { monthOf } from './limit-counter-holds.ts'

/** The day in UTC on which a request counts, and the month of that day, as in `Calendar`. */
export type CounterDay = { readonly day: number; readonly month: number }

/** What a step adds to a counter. Values below zero give back. */
export type CounterChange = {
  readonly requests?: number
  readonly tokens?: number
  readonly inFlight?: number
  readonly held?: NanoUsd
  readonly spent?: NanoUsd
}

/** What is left of the allowance of a minute now. A new row has an infinite level, which is full under any limit. */
const level = (column: string, limit: string): string =>
  `LEAST(${limit}, m.${column} + GREATEST(extract(epoch FROM c.now - m.at)::float8, 0) * ${limit} / 60)`
const levelAfter = (column: string, limit: string, amount: string): string =>
  `CASE WHEN ${limit} IS NULL THEN 'Infinity' ELSE LEAST(${limit}, ${level(column, limit)} - ${amount}) END`
/** Adds an amount to a day or a month. A later period begins at the amount. A period that is over does not change. */
const sumAfter = (column: string, period: string, at: string, amount: string): string =>
  `CASE WHEN m.${period} > ${at} THEN m.${column} WHEN m.${period} = ${at} THEN m.${column} + ${amount} ELSE ${amount} END`
/** Whether the spend of a period stays within its limit. */
const isWithin = (period: string, at: string, limit: string): string =>
  `(${limit} IS NULL OR CASE WHEN m.${period} < ${at} THEN 0 ELSE m.${period}_spent + m.${period}_held END
     + GREATEST(${HELD} + ${SPENT}, CASE WHEN ${REQUESTS} > 0 THEN 1 ELSE 0 END) <= ${limit})`

const [DAY, MONTH] = ['?2::bigint', '?3::bigint']
const [RPM, TPM] = ['?4::float8', '?5::float8']
const [CONCURRENT, DAY_LIMIT, MONTH_LIMIT] = ['?6::bigint', '?7::bigint', '?8::bigint']
const [CHECKED, REQUESTS, TOKENS, IN_FLIGHT] = ['?9::bigint', '?10::bigint', '?11::bigint', '?12::bigint']
const [HELD, SPENT] = ['?13::bigint', '?14::bigint']
const TODAY = 'floor(extract(epoch FROM c.now) / 86400)::bigint'

/**
 * Changes a counter: first its id, the day and the limits, then what is added. A reservation has `checked` above zero,
 * and must meet all limits. What is given back has none. The extension of a hold takes neither a request nor tokens, so
 * tokens that are owed do not stop it. Additions of one batch are decided by their sum. If that does not fit, the
 * transactions of the batch are decided one by one, in their order. A request counts for the day of the database's
 * clock. An instance that takes another day for today is refused, and learns the day from the row.
 */
const changeCounter = addingStatement(
  `UPDATE meter m SET
  req = ${levelAfter('req', RPM, REQUESTS)}, tok = ${levelAfter('tok', TPM, TOKENS)}, at = GREATEST(m.at, c.now),
  in_flight = m.in_flight + ${IN_FLIGHT}, day = GREATEST(m.day, ${DAY}), month = GREATEST(m.month, ${MONTH}),
  day_spent = ${sumAfter('day_spent', 'day', DAY, SPENT)}, day_held = ${sumAfter('day_held', 'day', DAY, HELD)},
  month_spent = ${sumAfter('month_spent', 'month', MONTH, SPENT)}, month_held = ${sumAfter('month_held', 'month', MONTH, HELD)}
FROM (SELECT clock_timestamp() AS now) c
WHERE m.id = ?1 AND (${CHECKED} = 0 OR (
  (${REQUESTS} = 0 OR (${DAY} = GREATEST(m.day, ${TODAY})
    AND (${RPM} IS NULL OR ${level('req', RPM)} >= ${REQUESTS})
    AND (${CONCURRENT} IS NULL OR m.in_flight + ${IN_FLIGHT} <= ${CONCURRENT})))
  AND (${TPM} IS NULL OR ${TOKENS} < 0 OR (${TOKENS} = 0 AND ${REQUESTS} = 0)
    OR ${level('tok', TPM)} >= GREATEST(${TOKENS}, CASE WHEN ${REQUESTS} > 0 THEN 1 ELSE 0 END))
  AND ${isWithin('day', DAY, DAY_LIMIT)} AND ${isWithin('month', MONTH, MONTH_LIMIT)}))`,
  8,
  { shared: 'meter' },
)

type CounterAt = { readonly id: string; readonly limits: Limits; readonly at: CounterDay }

const stepOf = ({ id, limits, at }: CounterAt, checked: bigint, change: CounterChange): Omit<WriteStep, 'changes'> => ({
  run: changeCounter,
  bind: [
    id,
    BigInt(at.day),
    BigInt(at.month),
    limits.requestsPerMinute ?? null,
    limits.tokensPerMinute ?? null,
    limits.concurrentRequests ?? null,
    limits.spendPerDay ?? null,
    limits.spendPerMonth ?? null,
    checked,
    change.requests ?? 0,
    change.tokens ?? 0,
    change.inFlight ?? 0,
    change.held ?? 0n,
    change.spent ?? 0n,
  ],
})

/** Takes from a counter, within its limits. */
export const reserveStep = (counter: CounterAt, change: CounterChange): WriteStep => ({
  ...stepOf(counter, 1n, change),
  changes: 1,
})

/** Gives back to a counter what a reservation has taken, and adds what was charged and used instead. */
export const returnStep = (counter: CounterAt, change: CounterChange): WriteStep => ({
  ...stepOf(counter, 0n, change),
  changes: 1,
})

/** Adds a charge of a request that began before the counter. */
export const spentStep = (counter: CounterAt, spent: NanoUsd): WriteStep => stepOf(counter, 0n, { spent })

const HOLD_MONTH = monthOf('h.meter_day')
const endHeld = statement(
  `UPDATE meter m SET
  day_held = m.day_held - CASE WHEN m.day = h.meter_day THEN h.amount - h.excess ELSE 0 END,
  day_spent = m.day_spent + CASE WHEN m.day = h.meter_day THEN ?2::bigint ELSE 0 END,
  month_held = m.month_held - CASE WHEN m.month = ${HOLD_MONTH} THEN h.amount - h.excess ELSE 0 END,
  month_spent = m.month_spent + CASE WHEN m.month = ${HOLD_MONTH} THEN ?2::bigint ELSE 0 END
FROM hold h WHERE h.id = ?1 AND m.id = ANY (string_to_array(h.meters, ' '))`,
)

/** Returns the amount of a task's hold to its counters, as the row of the hold has it, and adds the charge. */
export const endHeldStep = (holdId: string, charged: NanoUsd): WriteStep => ({ run: endHeld, bind: [holdId, charged] })

const createCounter = statement(
  `INSERT INTO meter (id, day, month, day_spent, month_spent)
  SELECT ?1, ?4::bigint, ?5::bigint, coalesce(sum(charged) FILTER (WHERE hour >= ?4::bigint * 24), 0)::bigint,
    coalesce(sum(charged), 0)::bigint
  FROM usage_hour WHERE account_id = ?2 AND (?3::text IS NULL OR key_id = ?3::text) AND hour >= ?6::bigint
  ON CONFLICT (id) DO NOTHING`,
)

type NewCounter = {
  readonly id: string
  /** Undefined for a counter that begins without charges. */
  readonly accountId: string | undefined
  /** Undefined for the counter of an account. */
  readonly keyId: string | undefined
  readonly at: CounterDay
  /** The first hour of the month. */
  readonly fromHour: number
}

/** Makes a counter, with what was charged in this month so far. A counter that is there stays as it is. */
export const createCounterStep = ({ id, accountId, keyId, at, fromHour }: NewCounter): WriteStep => ({
  run: createCounter,
  bind: [id, accountId ?? null, keyId ?? null, BigInt(at.day), BigInt(at.month), BigInt(fromHour)],
})

/** Counters as they are in the store, and the time of its clock, in Unix milliseconds. */
export type CounterReading = { readonly clockMs: number; readonly uses: ReadonlyMap<string, LimitUse> }

const READ = `SELECT m.id, m.req, m.tok, (extract(epoch FROM m.at) * 1000)::float8 AS at_ms, m.in_flight, m.day, m.month,
    m.day_spent, m.day_held, m.month_spent, m.month_held, c.now_ms
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms) c
  LEFT JOIN meter m ON ?1::text IS NULL OR m.id IN (SELECT jsonb_array_elements_text(?1::text::jsonb))`

/** Reads counters, or all. */
export async function readCounters(store: Queryable, ids?: Iterable<string>): Promise<CounterReading> {
  const rows = await store.query(READ, [ids ? JSON.stringify([...ids]) : null])
  const uses = new Map<string, LimitUse>()
  for (const row of rows) if (row['id'] !== null) uses.set(row['id'] as string, useOf(row))
  return { clockMs: Number(rows[0]?.['now_ms']), uses }
}

function useOf(row: Row): LimitUse {
  const atMs = Number(row['at_ms'])
  const today = { spent: row['day_spent'] as bigint, held: row['day_held'] as bigint }
  return {
    inFlight: Number(row['in_flight']),
    requests: TokenBucket.at(Number(row['req']), atMs),
    tokens: TokenBucket.at(Number(row['tok']), atMs),
    today: { ...today, day: Number(row['day']), month: Number(row['month']) },
    earlier: {
      spent: (row['month_spent'] as bigint) - today.spent,
      held: (row['month_held'] as bigint) - today.held,
    },
  }
}
