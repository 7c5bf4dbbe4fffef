import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findingsOf } from '../lib/primitives/checks.ts'
import { utc } from '../lib/primitives/time-zone.ts'
import { DATABASE, mustWrite, openStore, type Store } from '../store/store.ts'
import type { Outcome, RequestRecord } from './records.ts'
import { addUp, firstEventBoundsMs, usageSums } from './usage-rollups.ts'
import { openSqlRecords } from './sql-records.ts'
import { UsageDays } from './sql-usage-days.ts'
import { lastUsed, totalsSince, usageRows } from './sql-usage-report.ts'
import { firstEventColumns, usageChecks } from './sql-usage.ts'

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

async function openFresh(): Promise<{ store: Store; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-usage-'))
  folders.push(folder)
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  // The requests of these tests are of the first days of 1970. None of those is summed up yet.
  const db = new Database(join(folder, DATABASE))
  db.exec('UPDATE usage_days_until SET day = 0')
  db.close()
  return { store, folder }
}

const count = fc.nat({ max: 100_000 })
const aRecord: fc.Arbitrary<RequestRecord> = fc.record({
  id: fc.uuid(),
  accountId: fc.constantFrom('a', 'b'),
  keyId: fc.constantFrom('k1', 'k2'),
  endpoint: fc.constantFrom('chat', 'images'),
  model: fc.constantFrom('m1', 'm2'),
  stream: fc.boolean(),
  status: fc.constant(200),
  outcome: fc.constantFrom<Outcome>('completed', 'failed', 'cut', 'client_closed', 'barred'),
  errorCode: fc.constant(undefined),
  offerId: fc.constant('o'),
  providerId: fc.constant('p'),
  upstreamModel: fc.constant('u'),
  usage: fc.record({
    inputFresh: count,
    inputCached: count,
    cacheWrite5m: count,
    cacheWrite1h: count,
    outputText: count,
    outputReasoning: count,
    inputImage: count,
    outputImage: count,
    pieces: fc.array(
      fc.record({ unit: fc.constantFrom('piece:image/1024x1024' as const, 'piece:second/720p' as const), count }),
    ),
  }),
  usageSource: fc.constantFrom('reported', 'estimated'),
  priceCardId: fc.constant(1),
  costCardId: fc.constant(2),
  held: fc.bigInt(0n, 10n ** 12n),
  charged: fc.bigInt(0n, 10n ** 12n),
  writtenOff: fc.bigInt(0n, 10n ** 9n),
  upstreamCost: fc.bigInt(0n, 10n ** 12n),
  attempts: fc.constant([]),
  createdAtMs: fc.integer({ min: 0, max: 5 * 3_600_000 }),
  firstEventMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }),
  totalMs: fc.nat({ max: 60_000 }),
})

/** Writes charges to the ledger's tables, without a ledger. */
function charge(folder: string, records: readonly RequestRecord[]): void {
  const db = new Database(join(folder, DATABASE))
  db.transaction(() =>
    records.forEach(({ accountId, id, charged }) => {
      db.prepare(
        `INSERT INTO hold (id, account_id, amount, state, cost, settled, written_off, owner, created_at, resolved_at)
         VALUES (?1, ?2, 0, 'settled', ?3, ?3, 0, '', 0, 0)`,
      ).run(id, accountId, charged)
    }),
  )()
  db.close()
}

const ROW = 'account_id, hour, key_id, model, endpoint'
const FIRSTS = `SELECT ${ROW}, ${firstEventColumns.join(', ')} FROM usage_hour`
const within = firstEventColumns.map((_, i) => {
  const [from, to] = [firstEventBoundsMs[i - 1] ?? 0, firstEventBoundsMs[i] ?? Number.MAX_SAFE_INTEGER]
  return `count(*) FILTER (WHERE first_event_ms >= ${from} AND first_event_ms < ${to})`
})
const FIRSTS_OF_REQUESTS = `SELECT ${ROW.replace('hour', 'created_at / 3600000')}, ${within.join(', ')}
  FROM request_record GROUP BY 1, 2, 3, 4, 5`

test('hourly sums equal those of any requests, and the charges of the ledger', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(aRecord, { maxLength: 40, selector: ({ id }) => id }), async (records) => {
      const { store, folder } = await openFresh()
      await Promise.all(records.map((record) => mustWrite(store, openSqlRecords(store).steps(record))))
      charge(folder, records)
      expect(await findingsOf(store, usageChecks)).toEqual([])
      expect(await store.query(`${FIRSTS} EXCEPT ${FIRSTS_OF_REQUESTS}`)).toEqual([])
      expect(await store.query(`${FIRSTS_OF_REQUESTS} EXCEPT ${FIRSTS}`)).toEqual([])
      await store.close()
    }),
    { numRuns: 15 },
  )
}, 30_000)

test('a sum that is off by one is found, whichever it is, and so is one of another key', async () => {
  const { store, folder } = await openFresh()
  const records = fc.sample(aRecord, { numRuns: 5, seed: 7 })
  await Promise.all(records.map((record) => mustWrite(store, openSqlRecords(store).steps(record))))
  charge(folder, records)
  const db = new Database(join(folder, DATABASE))
  for (const sum of usageSums) {
    db.exec(`UPDATE usage_hour SET ${sum} = ${sum} + 1`)
    const found = await findingsOf(store, usageChecks)
    expect({ sum, found: found.some(({ detail }) => detail.includes(` ${sum} `)) }).toEqual({ sum, found: true })
    if (sum === 'charged') expect(found.some(({ detail }) => detail.includes('ledger'))).toBe(true)
    db.exec(`UPDATE usage_hour SET ${sum} = ${sum} - 1`)
  }
  expect(await findingsOf(store, usageChecks)).toEqual([])
  db.exec("UPDATE usage_hour SET key_id = 'k3' WHERE key_id = (SELECT min(key_id) FROM usage_hour)")
  expect(await findingsOf(store, usageChecks)).not.toEqual([])
  db.close()
  await store.close()
})

test('days are summed up once nothing can be added, and a report is the same before and after', async () => {
  const { store, folder } = await openFresh()
  const dayMs = 24 * 3_600_000
  const records = fc
    .sample(aRecord, { numRuns: 200, seed: 3 })
    .map((record, i) => ({ ...record, id: `r${i}`, createdAtMs: record.createdAtMs * 20 + 10 * dayMs }))
  await Promise.all(records.map((record) => mustWrite(store, openSqlRecords(store).steps(record))))
  charge(folder, records)
  const db = new Database(join(folder, DATABASE))
  db.exec("INSERT INTO account (id, name, status, created_at) VALUES ('a', 'a', 'active', 0), ('b', 'b', 'active', 0)")
  // A request of the third day is still running.
  const hold = 'INSERT INTO hold (id, account_id, amount, state, owner, created_at) VALUES (?, ?, 0, ?, ?, ?)'
  db.prepare(hold).run('open', 'a', 'open', 'me', 12.5 * dayMs)
  const days = await UsageDays.open(store)
  await Promise.all([days.sweep(), days.sweep()])
  expect(days.until).toBe(12)
  expect(await findingsOf(store, usageChecks)).toEqual([])
  db.exec("UPDATE hold SET state = 'released', resolved_at = 1 WHERE id = 'open'")
  await days.sweep(20 * dayMs)
  expect(days.until).toBe(19)
  expect(await findingsOf(store, usageChecks)).toEqual([])
  for (const by of [undefined, 'key', 'model', 'endpoint', 'account'] as const) {
    for (const accountId of ['a', undefined]) {
      for (const [fromHour, toHour] of [
        [240, 400],
        [245, 300],
        [250, 262],
      ] as const) {
        const query = { accountId, fromHour, toHour, stepHours: 24, shifts: utc, by } as const
        const whole = await usageRows(store, query, 0)
        expect(whole.length).toBeGreaterThan(0)
        expect(await usageRows(store, query, days.until)).toEqual(whole)
      }
    }
  }
  for (const fromHour of [0, 245, 300, 10_000]) {
    const used = (daysUntil: number) => lastUsed(store, 'a', fromHour, daysUntil)
    const naive = db
      .query<{ key: string; hour: number }, [number]>(
        "SELECT key_id AS key, max(hour) AS hour FROM usage_hour WHERE account_id = 'a' AND hour >= ? GROUP BY 1",
      )
      .all(Math.floor(fromHour / 24) * 24)
    const expected = naive.map(({ key, hour }) => [key, hour] as [string, number])
    expect(fromHour < 10_000 ? expected.length : 1).toBeGreaterThan(0)
    for (const daysUntil of [0, 12, days.until]) expect(await used(daysUntil)).toEqual(new Map(expected))
    const all = {
      accountId: undefined,
      fromHour,
      toHour: 20_000,
      stepHours: 24,
      shifts: utc,
      by: undefined,
    } as const
    expect(addUp(await usageRows(store, all, 0)).sums).toMatchObject(await totalsSince(store, fromHour))
  }
  db.exec('UPDATE usage_day SET charged = charged + 1 WHERE account_id = (SELECT min(account_id) FROM usage_day)')
  expect((await findingsOf(store, usageChecks)).every(({ detail }) => detail === 'not the sum of its hours')).toBe(true)
  expect(await findingsOf(store, usageChecks)).not.toEqual([])
  // The clock was set back by a week. Its days are read by the hour again.
  await days.sweep(13 * dayMs)
  expect(days.until).toBe(13)
  db.close()
  await store.close()
})

test('an empty period has no usage', async () => {
  const { store } = await openFresh()
  const none = { accountId: 'a', fromHour: 48, toHour: 48, stepHours: 24, shifts: utc, by: undefined } as const
  expect(await usageRows(store, none, 9)).toEqual([])
  expect(await usageRows(store, { ...none, fromHour: 72 }, 0)).toEqual([])
  await store.close()
})
