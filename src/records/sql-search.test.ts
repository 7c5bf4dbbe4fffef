import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idBound, idTimeMs, timeOrderedId } from '../lib/primitives/ids.ts'
import { utc } from '../lib/primitives/time-zone.ts'
import { statement, type Sql } from '../store/statement.ts'
import { DATABASE, mustWrite, openStore, type Store } from '../store/store.ts'
import { storedForm } from './record-row.ts'
import type { Outcome, RecordFilter, RequestRecord } from './records.ts'
import { fits } from './search.ts'
import { usageGroups } from './usage-rollups.ts'
import { openSqlRecords } from './sql-records.ts'
import { edgeStatement, hourStatement, rowsStatement, searchRecords } from './sql-search.ts'
import { usageStatement } from './sql-usage-report.ts'
import { HOUR_MS } from '../lib/primitives/units.ts'

const START_MS = Date.UTC(2026, 10, 1)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-search-'))
let store: Store
const records: RequestRecord[] = []

const pick = <T>(random: () => number, ...all: readonly T[]): T => all[Math.floor(random() * all.length)] as T

const refused = { offerId: 'x', providerId: 'p3', upstreamModel: 'u', result: 'rate', startedMs: 0, tookMs: 3 }
const answered = { result: 'ok', startedMs: 3, tookMs: 9 }

/** Twelve thousand requests of ten days. This is more than one search reads at once. */
function made(i: number, random: () => number): RequestRecord {
  const atMs = START_MS + i * 72_000
  // A body takes time to arrive, so some requests hold their money in a later hour than that of their arrival.
  const createdAtMs = atMs + Math.floor(random() * (i % 50 === 0 ? HOUR_MS : 100))
  const providerId = pick(random, 'p1', 'p2')
  return {
    id: timeOrderedId('req_', atMs),
    accountId: i % 3 === 0 ? 'b' : 'a',
    keyId: i === 4_000 ? 'rare' : pick(random, 'k1', 'k2'),
    endpoint: pick(random, 'chat.completions', 'images.edits'),
    model: i >= 2_000 && i < 2_100 ? 'old' : pick(random, 'm1', 'm2'),
    stream: false,
    status: 200,
    outcome: i % 997 === 1 ? 'failed' : pick<Outcome>(random, 'completed', 'client_closed'),
    errorCode: undefined,
    offerId: 'o',
    providerId,
    upstreamModel: 'u',
    usage: { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 },
    usageSource: 'reported',
    priceCardId: 1,
    costCardId: 1,
    held: 10n,
    charged: BigInt(i % 1_000),
    writtenOff: 0n,
    upstreamCost: 0n,
    attempts: [...(i % 4 === 0 ? [refused] : []), { ...refused, offerId: 'o', providerId, ...answered }],
    createdAtMs,
    firstEventMs: 5,
    totalMs: i % 2_000,
  }
}

beforeAll(async () => {
  store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < 12_000; i++) records.push(made(i, random))
  await Promise.all(records.map((record) => mustWrite(store, openSqlRecords(store).steps(record))))
}, 30_000)
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

/** The expected result, found by examining every request. */
const expected = (accountId: string, filter: RecordFilter): string[] =>
  records
    .filter(
      (record) =>
        record.accountId === accountId &&
        (filter.keyId === undefined || record.keyId === filter.keyId) &&
        (filter.model === undefined || record.model === filter.model) &&
        (filter.endpoints === undefined || filter.endpoints.includes(record.endpoint)) &&
        (filter.outcome === undefined || record.outcome === filter.outcome) &&
        (filter.providerId === undefined || record.providerId === filter.providerId) &&
        (filter.chargedMin === undefined || record.charged >= filter.chargedMin) &&
        (filter.totalMsMin === undefined || record.totalMs >= filter.totalMsMin) &&
        (filter.fromMs === undefined || record.id >= idBound('req_', filter.fromMs)) &&
        (filter.toMs === undefined || record.id < idBound('req_', filter.toMs)),
    )
    .map(({ id }) => id)
    .toReversed()

async function all(accountId: string, filter: RecordFilter, limit: number): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  for (let cursor: string | undefined, pages = 1; ; pages++) {
    const page = await searchRecords(store, accountId, { filter, cursor, limit })
    expect(page.records.length).toBeLessThanOrEqual(limit)
    ids.push(...page.records.map((record) => String(record['id'])))
    if (page.next === undefined) return { ids, pages }
    cursor = page.next
  }
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const aFilter: fc.Arbitrary<RecordFilter> = fc.record({
  keyId: maybe(fc.constantFrom('k1', 'rare', 'none')),
  model: maybe(fc.constantFrom('m1', 'old', 'none')),
  endpoints: maybe(fc.constantFrom(['images.edits'], ['images.edits', 'chat.completions'], [])),
  outcome: maybe(fc.constantFrom<Outcome>('failed', 'completed', 'cut')),
  providerId: maybe(fc.constantFrom('p1', 'none')),
  chargedMin: maybe(fc.constantFrom(0n, 990n, 5_000n)),
  totalMsMin: maybe(fc.constantFrom(1_990, 5_000)),
  fromMs: maybe(fc.constantFrom(START_MS + 50 * HOUR_MS, START_MS + 500 * HOUR_MS)),
  toMs: maybe(fc.constantFrom(START_MS + 100 * HOUR_MS, START_MS - 1)),
})

test('any search finds everything that fits and nothing else, in order, page by page', async () => {
  await fc.assert(
    fc.asyncProperty(
      aFilter,
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom(50, 200),
      async (filter, accountId, limit) => {
        const found = (await all(accountId, filter, limit)).ids
        expect(found).toEqual(expected(accountId, filter))
        // Watchers of the feed are filtered by the same rule.
        const told = records.filter((record) => record.accountId === accountId && fits(filter, record))
        expect(told.map(({ id }) => id).toReversed()).toEqual(found)
      },
    ),
    { numRuns: 150 },
  )
}, 60_000)

test('the stored form of a record is that which the store returns', async () => {
  const [record] = records
  if (!record) throw new Error('no records')
  const stored = await openSqlRecords(store).find(record.accountId, record.id)
  const text = (row: object): string =>
    JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value))
  expect(JSON.parse(text(storedForm(record)))).toEqual(JSON.parse(text(stored ?? {})))
})

test('attempts are read back unchanged, although names that the record has are not written twice', async () => {
  for (const record of records.slice(4, 12)) {
    const { accountId, id, attempts } = record
    const [page, row] = await Promise.all([
      searchRecords(store, accountId, { filter: {}, cursor: `${id}~`, limit: 1 }),
      store.query('SELECT attempts FROM request_record WHERE id = ?', [id]),
    ])
    const inFull = [page.records[0], await openSqlRecords(store).find(accountId, id), storedForm(record)]
    for (const found of inFull) expect(JSON.parse(found?.attempts ?? '')).toEqual(attempts)
    expect(JSON.parse(row[0]?.['attempts'] as string)).toEqual([...attempts.slice(0, -1), answered])
  }
})

test('a rare request is found by a jump, and not by reading everything before it', async () => {
  expect(await all('a', { keyId: 'rare' }, 50)).toMatchObject({ pages: 1 })
  expect(await all('a', { model: 'old' }, 200)).toMatchObject({ pages: 1 })
  expect((await all('a', { model: 'none' }, 50)).pages).toBe(1)
})

test('an id contains its time, and bounds divide ids by time', () => {
  const id = timeOrderedId('req_', START_MS)
  expect(idTimeMs('req_', id)).toBe(START_MS)
  expect(id >= idBound('req_', START_MS) && id < idBound('req_', START_MS + 1)).toBe(true)
})

describe('no list reads a whole table, or sorts one', () => {
  const plans = (sql: Sql): string[] => {
    const db = new Database(join(folder, DATABASE), { readonly: true })
    try {
      const plan = db.query(`EXPLAIN QUERY PLAN ${statement(sql).sql}`).all() as { detail: string }[]
      return plan.map(({ detail }) => detail)
    } finally {
      db.close()
    }
  }
  const some = ' AND key_id = ? AND model = ? AND outcome = ?'
  const days = { fromHour: 0, toHour: 90, stepHours: 24, shifts: utc } as const
  const report = (accountId: string | undefined): [string, Sql][] =>
    [undefined, ...usageGroups].map((by) => [
      `usage of ${accountId ?? 'all'} by ${by ?? 'nothing'}`,
      usageStatement({ ...days, accountId, by, model: 'm' }, 2).sql,
    ])
  const statements: [string, Sql][] = [
    ['requests', rowsStatement(() => '')],
    ['requests, filtered', rowsStatement(() => some)],
    ['where a stretch ends', edgeStatement],
    ['the last hour of something', hourStatement(() => ' AND key_id = ? AND failed > ?', 'DESC')],
    ['the first hour of something', hourStatement(() => '', 'ASC')],
    ...report('a'),
    ...report(undefined),
  ]
  test.each(statements)('%s', (name, sql) => {
    const found = plans(sql)
    // Accounts are few, and may be scanned one by one. A group has as many rows as a chart has points.
    const scans = found.filter(
      (detail) => detail.startsWith('SCAN ') && !/^SCAN (?:a\b|account\b|parts\b)|json_each/.test(detail),
    )
    const sorts = found.filter((detail) => detail.includes('TEMP B-TREE') && !name.startsWith('usage'))
    expect({ name, scans, sorts }).toEqual({ name, scans: [], sorts: [] })
  })
})
