import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Usage } from '../domain/usage.ts'
import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { mustWrite, openStore, type Store } from '../store/store.ts'
import { storedForm } from './record-row.ts'
import { describeRecordsContract } from './records-contract.ts'
import type { AttemptNote, RequestRecord } from './records.ts'
import { openSqlRecords } from './sql-records.ts'

describeRecordsContract(
  'SQLite',
  onSqlite((own) => openSqlRecords(own)),
)
describeRecordsContract(
  'PostgreSQL',
  onPostgres((own) => openSqlRecords(own, 'shard')),
)

const folder = mkdtempSync(join(tmpdir(), 'tollgate-records-'))
let store: Store

beforeAll(async () => {
  store = await openStore(folder, (message) => {
    throw new Error(message)
  })
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const names = { offerId: 'o', providerId: 'p', upstreamModel: 'u' }
const served: AttemptNote = { ...names, result: 'ok', startedMs: 0, tookMs: 5 }
const usage: Usage = {
  inputFresh: 1,
  inputCached: 2,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 3,
  outputReasoning: 4,
}
const record: Omit<RequestRecord, 'id'> = {
  ...names,
  accountId: 'a',
  keyId: 'k',
  endpoint: 'chat.completions',
  model: 'm',
  stream: true,
  status: 200,
  outcome: 'completed',
  errorCode: undefined,
  usage,
  usageSource: 'reported',
  priceCardId: 1,
  costCardId: 2,
  held: 2n ** 60n,
  charged: 30n,
  writtenOff: 4n,
  upstreamCost: 5n,
  attempts: [served],
  createdAtMs: 1_700_000_000_000,
  firstEventMs: 2.4,
  totalMs: 9.6,
}

const withUsage = (more: Partial<Usage>): typeof record => ({ ...record, usage: { ...usage, ...more } })
const withAttempts = (...attempts: readonly AttemptNote[]): typeof record => ({ ...record, attempts })
const other: AttemptNote = { ...served, offerId: 'x', result: 'rate', status: 429, code: 'a "code"' }

/** Each is written by another statement, or writes its attempts in another way. */
const cases: Record<string, typeof record> = {
  'of text alone': record,
  'without a first event': { ...record, stream: false, firstEventMs: undefined },
  'a failure': { ...record, outcome: 'failed', status: 502, errorCode: 'upstream_error' },
  unserved: { ...record, offerId: undefined, providerId: undefined, upstreamModel: undefined, costCardId: undefined },
  'a cache written for 5 minutes': withUsage({ cacheWrite5m: 7 }),
  'a cache written for an hour': withUsage({ cacheWrite1h: 7 }),
  'an image read': withUsage({ inputImage: 7 }),
  'an image made': withUsage({ outputImage: 7 }),
  pieces: withUsage({ pieces: [{ unit: 'piece:image/1024x1024', count: 2 }] }),
  'not tried': withAttempts(),
  'tried twice': withAttempts(other, served),
  'two that served': withAttempts(served, { ...served, startedMs: 6 }),
  'another offer': withAttempts({ ...served, offerId: 'x' }),
  'one that failed': withAttempts({ ...served, result: 'network', message: 'closed' }),
}

test('every kind of record is read back unchanged, from one commit with all the others', async () => {
  const records = Object.entries(cases).map(([id, one]): RequestRecord => ({ ...one, id }))
  await Promise.all(records.map((one) => mustWrite(store, openSqlRecords(store).steps(one))))
  for (const one of records) {
    const found = (await openSqlRecords(store).find('a', one.id)) ?? {}
    const form = storedForm(one)
    // The store returns integers as bigint. Those that fit become numbers here.
    const asNumber = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)
    for (const [name, value] of Object.entries(form)) {
      expect([one.id, name, asNumber((found as typeof form)[name])]).toEqual([one.id, name, asNumber(value)])
    }
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(form).toSorted())
    expect(JSON.parse(form.attempts)).toEqual(one.attempts)
    const { cacheWrite5m, cacheWrite1h, inputImage = 0, outputImage = 0, pieces } = one.usage
    expect(form).toMatchObject({
      error_code: one.errorCode ?? null,
      cache_write_5m: cacheWrite5m,
      cache_write_1h: cacheWrite1h,
      input_image: inputImage,
      output_image: outputImage,
      pieces: pieces ? JSON.stringify(pieces) : null,
    })
  }
})
