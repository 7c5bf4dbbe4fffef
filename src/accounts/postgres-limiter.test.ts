import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestPostgres } from '../../test/support/postgres.ts'
import { findingsOf, type Finding } from '../lib/primitives/checks.ts'
import { openPostgresStore } from '../store/postgres/store.ts'
import { statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { describeLimiterContract } from './limiter-contract.ts'
import { openMemoryLimiter } from './memory-limiter.ts'
import type { ReservationKind } from './limiter.ts'
import { LimitCounters } from './limit-counters.ts'
import { counterCheck, counterExpirySteps } from './limit-counter-holds.ts'
import { openPostgresLimiter, PostgresLimiter } from './postgres-limiter.ts'
import { callerOf, describeSharedLimiterContract, type SharedLimitersUnderTest } from './shared-limiter-contract.ts'

/** The time of the database. A function of this name goes before that of PostgreSQL in the search path. */
const TEST_CLOCK = `
  CREATE TABLE public.test_clock (now timestamptz NOT NULL);
  INSERT INTO public.test_clock VALUES (now());
  CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS 'SELECT now FROM public.test_clock'`

type LimitersOnPostgres = SharedLimitersUnderTest & { findings(): Promise<readonly Finding[]> }

async function open(): Promise<LimitersOnPostgres> {
  // The defaults of the schema must take the clock of the test.
  const database = await openTestPostgres('nothing')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-limiter-'))
  const sql = new SQL(database.url, { max: 1, bigint: true })
  await sql.unsafe(TEST_CLOCK).simple()
  await sql.unsafe(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET search_path = public, pg_catalog`)
  const clock = { nowMs: Date.now() }
  const stores: Store[] = []
  return {
    async openInstance() {
      const onFatal = (message: string): never => {
        throw new Error(message)
      }
      const store = await openPostgresStore(database.url, { folder, onFatal })
      stores.push(store)
      const limiter = await openPostgresLimiter(store, [], { now: () => clock.nowMs })
      return { limiter, write: (steps) => store.write(steps) }
    },
    async setClock(nowMs, instanceMs = nowMs) {
      clock.nowMs = instanceMs
      await sql.unsafe('UPDATE public.test_clock SET now = to_timestamp($1::float8 / 1000)', [nowMs])
    },
    async charge({ key, account }, hour, charged) {
      const columns = await sql.unsafe<{ name: string }[]>(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'usage_hour'::regclass AND attnum > 0
           AND attname NOT IN ('account_id', 'hour', 'key_id', 'model', 'endpoint', 'shard', 'charged')`,
      )
      const others = columns.map(({ name }) => name)
      await sql.unsafe(
        `INSERT INTO usage_hour (account_id, hour, key_id, model, endpoint, charged, ${others.join(', ')})
         VALUES ($1, $2, $3, 'm', 'chat', $4, ${others.map(() => '0').join(', ')})`,
        [account.id, hour, key.id, charged],
      )
    },
    async findings() {
      const found = await findingsOf(stores[0] ?? expect.unreachable(), [counterCheck])
      return found.toSorted((one, other) => one.subject.localeCompare(other.subject))
    },
    async counter(id) {
      const [row] = await sql.unsafe<Record<string, bigint>[]>('SELECT * FROM meter WHERE id = $1', [id])
      return (
        row && {
          inFlight: Number(row['in_flight']),
          daySpent: row['day_spent'] as bigint,
          dayHeld: row['day_held'] as bigint,
          monthSpent: row['month_spent'] as bigint,
          monthHeld: row['month_held'] as bigint,
        }
      )
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()))
      await sql.close()
      await database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

describeSharedLimiterContract('PostgresLimiter', open)

const insertHold = statement(
  `INSERT INTO hold (id, account_id, amount, state, owner, meters, meter_day, tokens, created_at)
   VALUES (?, 'acct', ?, 'open', ?, ?, ?, ?, 0)`,
)

test('what a dead instance has taken is given back with its holds, and the check sees what is not', async () => {
  const shared = await open()
  await shared.setClock(Date.UTC(2026, 10, 30, 23))
  const [a, b] = [await shared.openInstance(), await shared.openInstance()]
  const who = callerOf({ concurrentRequests: 9, tokensPerMinute: 9_000, spendPerDay: 900n }, { spendPerMonth: 900n })
  const hold = async (owner: string, kind: ReservationKind = 'known'): Promise<void> => {
    const permit = (owner === 'dead' ? a : b).limiter.enter(who)
    const reservation = permit.kind === 'admitted' && permit.reserve(100n, 1_000, kind)
    if (!reservation) throw new Error('it has limits')
    const { counters, day, tokens } = reservation.counted
    const bind = [`${owner}-${serial++}`, 100n, owner, counters.join(' '), day, tokens]
    expect(await a.write([...reservation.steps, { run: insertHold, bind }])).toEqual({ kind: 'written' })
  }
  let serial = 0
  await hold('dead')
  await hold('alive')
  await hold('task', 'task')
  // It is December the first, so the holds so far are of another month.
  await shared.setClock(Date.UTC(2026, 11, 1))
  for (const { limiter } of [a, b]) await limiter.refresh(who)
  await hold('dead')
  await hold('dead')
  await hold('alive')
  expect(await shared.findings()).toEqual([])
  expect(await shared.counter('key_1')).toMatchObject({ inFlight: 5, dayHeld: 300n, monthHeld: 300n })
  const resolve = statement("UPDATE hold SET state = 'expired', resolved_at = 0 WHERE owner = ? AND state = 'open'")
  expect(await b.write([...counterExpirySteps('dead'), { run: resolve, bind: ['dead'] }])).toEqual({ kind: 'written' })
  expect(await shared.counter('key_1')).toMatchObject({ inFlight: 2, dayHeld: 100n, monthHeld: 100n })
  expect(await shared.counter('acct')).toMatchObject({ inFlight: 2, dayHeld: 100n, monthHeld: 100n })
  expect(await shared.findings()).toEqual([])
  await b.write([{ run: resolve, bind: ['alive'] }])
  expect(await shared.findings()).toMatchObject([
    { code: 'meter', subject: 'acct' },
    { code: 'meter', subject: 'key_1', detail: 'in flight 2, holds 0; held 100, holds 0' },
  ])
  await shared.close()
})

const never = (): Promise<never> => new Promise(() => undefined)
const silent = { write: never, query: never } as unknown as Store

describeLimiterContract('PostgresLimiter, while its store does not answer,', (past, options) => {
  const local = openMemoryLimiter(past, options)
  return new PostgresLimiter(local, new LimitCounters(silent, local.now))
})
