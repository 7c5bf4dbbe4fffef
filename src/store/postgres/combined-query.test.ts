import { SQL } from 'bun'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openTestPostgres, type TestDatabase } from '../../../test/support/postgres.ts'
import { CombinedQueries, type BatchChange, type FenceValues } from './combined-query.ts'
import { migratePostgres } from './migrate.ts'
import { isUnmet } from './query-failure.ts'

const FENCE: FenceValues = ['run', 1n, 0n]
const POLL_MS = 10

let database: TestDatabase
let admin: SQL
let writer: SQL

beforeEach(async () => {
  database = await openTestPostgres()
  admin = new SQL(database.url, { max: 3, bigint: true })
  writer = new SQL(database.url, { max: 1, bigint: true, connection: { application_name: 'combined' } })
  await migratePostgres(admin)
  await admin`INSERT INTO instance (id) VALUES ('run')`
  await admin`INSERT INTO account (id, name, status, created_at, posted) VALUES ('a', 'a', 'active', 0, 100), ('b', 'b', 'active', 0, 100)`
})
afterEach(async () => {
  await writer.close({ timeout: 0 })
  await admin.close({ timeout: 0 })
  await database.close()
})

const insert = (...ids: readonly string[]): BatchChange => ({
  name: 'insert',
  text: `INSERT INTO hold (id, account_id, amount, owner, created_at, state)
    SELECT v1, 'a', 1, 'run', 0, 'open' FROM unnest($1::text::text[]) AS each (v1)`,
  bind: [`{${ids.join(',')}}`],
  changes: ids.length,
  isShared: false,
})
const release = (...ids: readonly string[]): BatchChange => ({
  name: 'release',
  text: `UPDATE hold SET state = 'released', resolved_at = 0
    FROM unnest($1::text::text[]) AS each (v1) WHERE id = each.v1 AND state || '' = 'open'`,
  bind: [`{${ids.join(',')}}`],
  changes: ids.length,
  isShared: false,
})
const take = (id: string, amount: bigint): BatchChange => ({
  name: 'take',
  text: 'UPDATE account SET posted = posted - $2 WHERE id = $1 AND posted - $2 >= 0',
  bind: [id, amount],
  changes: 1,
  returns: ['posted'],
  isShared: true,
})

async function run(changes: readonly BatchChange[], fence = FENCE): Promise<readonly unknown[]> {
  const query = new CombinedQueries().combine(changes, fence)
  if (!query) throw new Error('the changes are not combined')
  return (await writer.unsafe(query.text, query.bind as never[])) as unknown[]
}

const state = async (): Promise<unknown> => {
  const [row] = await admin`SELECT (SELECT batch FROM instance) AS batch,
    (SELECT string_agg(id || ' ' || state, ', ' ORDER BY id) FROM hold) AS holds,
    (SELECT string_agg(posted::text, ' ' ORDER BY id) FROM account) AS funds`
  return row
}
const UNCHANGED = { batch: 0n, holds: null, funds: '100 100' }

test('all changes and the fence are one transaction, and each shared row is returned', async () => {
  const [row] = await run([insert('x', 'y'), take('a', 30n), take('b', 100n)])
  expect(row).toHaveProperty('posted_0', 70n)
  expect(row).toHaveProperty('posted_1', 0n)
  expect(await state()).toEqual({ batch: 1n, holds: 'x open, y open', funds: '70 0' })
  await run([insert('z'), release('x')], ['run', 2n, 1n])
  expect(await state()).toEqual({ batch: 2n, holds: 'x released, y open, z open', funds: '70 0' })
})

test.each<[string, readonly BatchChange[], FenceValues]>([
  ['another batch has its place', [insert('x'), take('a', 1n)], ['run', 8n, 7n]],
  ['a row is not changed', [insert('x'), release('nobody'), take('a', 1n)], FENCE],
  ['a shared row does not allow it', [insert('x'), take('a', 1n), take('b', 101n)], FENCE],
  ['a row is inserted and changed', [insert('x'), release('x')], FENCE],
  ['a row is changed twice', [take('a', 1n), take('a', 1n)], FENCE],
])('nothing is changed if %s', async (_, changes, fence) => {
  const error = await run(changes, fence).catch((thrown: unknown) => thrown)
  expect(isUnmet(error as Error)).toBe(true)
  expect(await state()).toEqual(UNCHANGED)
})

test('a shared row is locked after everything before it', async () => {
  const waits = async (): Promise<boolean> => {
    const rows = await admin`SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'combined' AND wait_event_type = 'Lock'`
    return rows.length > 0
  }
  const isFree = (table: string, id: string): Promise<boolean> =>
    admin.begin(async (sql) => {
      const rows = await sql.unsafe(`SELECT 1 FROM ${table} WHERE id = '${id}' FOR UPDATE SKIP LOCKED`)
      return rows.length > 0
    })
  await run([insert('x')])
  /** Which rows are free while a query waits for one of them. */
  const freeWhileHeld = async (table: string, id: string, number: bigint): Promise<readonly boolean[]> => {
    let waiting: Promise<unknown> | undefined
    const free = await admin.begin(async (sql) => {
      await sql.unsafe(`SELECT 1 FROM ${table} WHERE id = '${id}' FOR UPDATE`)
      waiting = run([insert(`new_${number}`), take('a', 1n), take('b', 1n)], ['run', number, number - 1n])
      while (!(await waits())) await Bun.sleep(POLL_MS)
      return Promise.all([isFree('instance', 'run'), isFree('account', 'a'), isFree('account', 'b')])
    })
    await waiting
    return free
  }
  expect(await freeWhileHeld('instance', 'run', 2n)).toEqual([false, true, true])
  expect(await freeWhileHeld('account', 'a', 3n)).toEqual([false, false, true])
  expect(await freeWhileHeld('account', 'b', 4n)).toEqual([false, false, false])
  expect(await state()).toMatchObject({ batch: 4n, funds: '97 97' })
})

test('what would not be one query is sent one by one', () => {
  const queries = new CombinedQueries()
  const many = Array.from({ length: 9 }, (_, i) => take(`a${i}`, 1n))
  expect(queries.combine(many, FENCE)).toBeUndefined()
  expect(queries.combine([{ ...take('a', 1n), text: 'DELETE FROM account WHERE id = $1' }], FENCE)).toBeUndefined()
  const shapes = Array.from({ length: 49 }, (_, i) => ({ ...take('a', 1n), name: `${i}` }))
  expect(shapes.filter((shape) => queries.combine([shape], FENCE)).length).toBe(48)
})
