import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { openTestPostgres } from '../../test/support/postgres.ts'
import { Dice } from '../store/port-contract.ts'
import { onInstances } from '../store/postgres-contract.ts'
import { openPostgresStore } from '../store/postgres/store.ts'
import { mustWrite } from '../store/store.ts'
import { describeRecordFeedContract } from './feed-contract.ts'
import type { Watcher } from './feed.ts'
import { openPostgresFeed } from './postgres-feed.ts'
import { recordColumns, recordOf, storedForm, valuesOf } from './record-row.ts'
import { randomRecord } from './records-contract.ts'
import { openSqlRecords } from './sql-records.ts'
import type { RequestRecord } from './records.ts'

const onError = (error: unknown): never => {
  throw error as Error
}

describeRecordFeedContract('The feed of instances', async () => {
  const under = await onInstances(() => undefined)()
  const feed = openPostgresFeed(under.second.store, { onError, pollMs: 5 })
  return {
    feed,
    // Another instance writes the record.
    async publish(record) {
      await mustWrite(under.first.store, openSqlRecords(under.first.store, 'shard').steps(record))
      await feed.caughtUp()
    },
    async close() {
      feed.close()
      await under.close()
    },
  }
})

test('nothing that instances write at once is missed or sent twice, whatever the order of their commits', async () => {
  const under = await onInstances(() => undefined)()
  const dice = new Dice(6)
  const feed = openPostgresFeed(under.second.store, { onError, pollMs: 5 })
  const taken: RequestRecord[] = []
  const watcher: Watcher = { take: (record) => void taken.push(record), end: () => undefined }
  feed.watch('a', watcher)
  await feed.caughtUp()
  const made = Array.from({ length: 600 }, () => ({ ...randomRecord(dice, Date.now()), accountId: 'a' }))
  await Promise.all(
    made.map(async (record, i) => {
      const { store } = i % 2 === 0 ? under.first : under.second
      await Bun.sleep(dice.below(300))
      await mustWrite(store, openSqlRecords(store, `shard ${i % 2}`).steps(record))
      if (i % 2 === 1) feed.published(record)
    }),
  )
  await feed.caughtUp()
  expect(taken.length).toBe(600)
  const byId = new Map(taken.map((record) => [record.id, record]))
  const plain = (record: RequestRecord): object => ({
    ...storedForm(record),
    attempts: JSON.parse(storedForm(record).attempts),
  })
  for (const record of made) expect(plain(byId.get(record.id) as RequestRecord)).toEqual(plain(record))
  // Who comes later gets only what comes later, and a feed without watchers begins anew.
  const late: string[] = []
  const stop = feed.watch('a', { take: ({ id }) => void late.push(id), end: () => undefined })
  await feed.caughtUp()
  expect(late).toEqual([])
  const next = { ...randomRecord(dice, Date.now()), accountId: 'a' }
  await mustWrite(under.first.store, openSqlRecords(under.first.store, 'shard').steps(next))
  await feed.caughtUp()
  expect(late).toEqual([next.id])
  stop?.()
  feed.close()
  await under.close()
})

test('a record that is committed after a later one is not missed', async () => {
  const database = await openTestPostgres('schema')
  const store = await openPostgresStore(database.url, { folder: tmpdir(), onFatal: onError })
  const other = new SQL(database.url, { max: 1 })
  const dice = new Dice(8)
  const feed = openPostgresFeed(store, { onError, pollMs: 60_000 })
  const taken: string[] = []
  feed.watch('a', { take: ({ id }) => void taken.push(id), end: () => undefined })
  await feed.caughtUp()
  const [early, late] = [1, 2].map(() => ({ ...randomRecord(dice, Date.now()), accountId: 'a' })) as [
    RequestRecord,
    RequestRecord,
  ]
  const values = valuesOf(early).map((value) => (typeof value === 'number' ? BigInt(value) : value))
  const places = values.map((_, i) => `$${i + 1}`).join(', ')
  await other.begin(async (transaction) => {
    await transaction.unsafe(`INSERT INTO request_record (${recordColumns}) VALUES (${places})`, values)
    await mustWrite(store, openSqlRecords(store, 'shard').steps(late))
    for (let i = 0; i < 3; i++) await feed.caughtUp()
    expect(taken).toEqual([late.id])
  })
  for (let i = 0; i < 3; i++) await feed.caughtUp()
  expect(taken).toEqual([late.id, early.id])
  feed.close()
  await other.close()
  await store.close()
  await database.close()
})

test('a record of a row is the record that was written', () => {
  const dice = new Dice(9)
  for (let i = 0; i < 200; i++) {
    const record = randomRecord(dice, Date.now())
    const form = storedForm(record)
    expect(storedForm(recordOf(form))).toEqual(form)
  }
})
