import { SQL } from 'bun'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestPostgres } from '../../test/support/postgres.ts'
import { openPostgresStore } from '../store/postgres/store.ts'
import type { Store } from '../store/store.ts'
import { describeLimiterContract } from './limiter-contract.ts'
import { openMemoryLimiter } from './memory-limiter.ts'
import { MeterBook } from './meter-book.ts'
import { openPostgresLimiter, PostgresLimiter } from './postgres-limiter.ts'
import { describeSharedLimiterContract, type SharedLimitersUnderTest } from './shared-limiter-contract.ts'

/** The time of the database. A function of this name goes before that of PostgreSQL in the search path. */
const TEST_CLOCK = `
  CREATE TABLE public.test_clock (now timestamptz NOT NULL);
  INSERT INTO public.test_clock VALUES (now());
  CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS 'SELECT now FROM public.test_clock'`

async function open(): Promise<SharedLimitersUnderTest> {
  const database = await openTestPostgres()
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
    async meter(id) {
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

const never = (): Promise<never> => new Promise(() => undefined)
const silent = { write: never, query: never } as unknown as Store

describeLimiterContract('PostgresLimiter, while its store does not answer,', (past, options) => {
  const local = openMemoryLimiter(past, options)
  return new PostgresLimiter(local, new MeterBook(silent, local.now))
})
