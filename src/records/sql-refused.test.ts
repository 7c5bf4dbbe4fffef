import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { onInstances, onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { DATABASE, openStore, type Store } from '../store/store.ts'
import { describeRefusalsOfInstances, describeRefusedRequestsContract } from './refused-contract.ts'
import { refusedBounds, type RefusedRequest } from './refused.ts'
import { openSqlRefusedRequests } from './sql-refused.ts'

for (const [name, on] of Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres })) {
  describeRefusedRequestsContract(
    name,
    on((store) => openSqlRefusedRequests(store)),
  )
}

describeRefusalsOfInstances(
  'PostgreSQL',
  onInstances((own) => openSqlRefusedRequests(own)),
)

let store: Store
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-refused-'))
  store = await openStore(folder, (message) => {
    throw new Error(message)
  })
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const START = Date.UTC(2026, 0, 1)
let nowMs = START
beforeEach(() => {
  nowMs += 3_600_000
})
const refusal = (change: Partial<RefusedRequest> = {}): RefusedRequest => ({
  id: timeOrderedId('req_', nowMs),
  accountId: 'acct_1',
  keyId: 'key_1',
  method: 'POST',
  endpoint: '/v1/chat/completions',
  model: 'fast',
  status: 429,
  code: 'rate_limit_exceeded',
  atMs: nowMs,
  ...change,
})
const hoursAround = () => ({ fromHour: Math.floor(nowMs / 3_600_000), toHour: Math.floor(nowMs / 3_600_000) + 1 })
const rowsOf = async (account: string): Promise<number> => {
  const [row] = await store.query('SELECT count(*) AS n FROM refused_request WHERE account_id = ?', [account])
  return Number(row?.['n'])
}

test('a refusal is found by its id at once, by account and by code', async () => {
  const refused = openSqlRefusedRequests(store, () => nowMs)
  const [broke, wrong] = [refusal({ status: 401, code: 'insufficient_quota' }), refusal({ status: 404, code: 'none' })]
  refused.note(broke)
  refused.note(wrong)
  expect(await refused.find(broke.id)).toEqual({ ...broke, repeats: 0, lastAtMs: nowMs })
  expect(await refused.find(broke.id, 'acct_2')).toBeUndefined()
  const one = await refused.list('acct_1', { limit: 5, code: 'none' })
  expect(one.map(({ id }) => id)).toEqual([wrong.id])
  expect(await refused.counted('acct_1', hoursAround())).toEqual([
    { status: 401, code: 'insufficient_quota', requests: 1 },
    { status: 404, code: 'none', requests: 1 },
  ])
})

test('a flood is counted completely, has few rows, and leaves room for other sorts', async () => {
  const refused = openSqlRefusedRequests(store, () => nowMs)
  const started = process.cpuUsage()
  const flood = Array.from({ length: 100_000 }, () => refusal({ accountId: 'acct_flood' }))
  for (const one of flood) refused.note(one)
  const other = refusal({ accountId: 'acct_flood', code: 'model_not_found', status: 404 })
  refused.note(other)
  // This includes making the ids, which takes a microsecond or two each.
  expect(process.cpuUsage(started).user).toBeLessThan(4_000_000)
  await refused.flush()
  expect(await rowsOf('acct_flood')).toBeLessThanOrEqual(50)
  expect(await refused.find(other.id, 'acct_flood')).toMatchObject({ code: 'model_not_found', repeats: 0 })
  expect(await refused.counted('acct_flood', hoursAround())).toEqual([
    { status: 429, code: 'rate_limit_exceeded', requests: 100_000 },
    { status: 404, code: 'model_not_found', requests: 1 },
  ])
  const kept = await refused.list('acct_flood', { limit: 100 })
  expect(kept.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(100_001)
  // Without its own row, it is found by the row that stands for it.
  expect(await refused.find(flood.at(-1)?.id ?? '', 'acct_flood')).toMatchObject({ code: 'rate_limit_exceeded' })
})

test('any number of codes, models and accounts takes a bounded number of rows and bounded memory', async () => {
  const refused = openSqlRefusedRequests(store, () => nowMs)
  for (let i = 0; i < 20_000; i++) refused.note(refusal({ accountId: `acct_${i}`, code: `code_${i}`, model: `m${i}` }))
  for (let i = 0; i < 20_000; i++) refused.note(refusal({ accountId: 'acct_many', model: `m${i}` }))
  await refused.flush()
  const [row] = await store.query('SELECT count(*) AS n FROM refused_request WHERE created_at = ?', [nowMs])
  expect(Number(row?.['n'])).toBeLessThanOrEqual(1_050)
})

test('the newest refusals of an account are kept, and the disk does not fill', async () => {
  const refused = openSqlRefusedRequests(store, () => nowMs)
  let last = ''
  for (let minute = 0; minute < 60; minute++) {
    nowMs += 60_000
    for (let i = 0; i < 60; i++)
      refused.note(refusal({ accountId: 'acct_long', id: (last = timeOrderedId('req_', nowMs)) }))
    await refused.flush()
  }
  expect(await rowsOf('acct_long')).toBeLessThanOrEqual(refusedBounds.rowsPerAccountMax)
  expect(await refused.find(last, 'acct_long')).toBeDefined()
  await refused.sweep()
  expect(statSync(join(folder, DATABASE)).size).toBeLessThan(16 * 1024 * 1024)
})

test('a list is narrowed by key, model, endpoint and time', async () => {
  const refused = openSqlRefusedRequests(store, () => nowMs)
  const accountId = 'acct_narrowed'
  const one = refusal({ accountId, endpoint: 'chat.completions' })
  const other = refusal({ accountId, keyId: 'key_2', model: 'slow', endpoint: 'embeddings', atMs: nowMs + 60_000 })
  for (const each of [one, other]) refused.note(each)
  for (const [filter, found] of [
    [{ keyId: 'key_2' }, [other.id]],
    [{ model: 'fast' }, [one.id]],
    [{ endpoint: 'embeddings' }, [other.id]],
    [{ fromMs: nowMs + 1 }, [other.id]],
    [{ toMs: nowMs + 60_000 }, [one.id]],
    [{ fromMs: nowMs, toMs: nowMs + 60_001 }, [other.id, one.id]],
    [{ keyId: 'key_2', model: 'fast' }, []],
  ] as const) {
    const rows = await refused.list(accountId, { limit: 10, ...filter })
    expect({ filter, found: rows.map(({ id }) => id).toSorted() }).toEqual({ filter, found: [...found].toSorted() })
  }
  // A row that stands for others covers the time of all of them.
  nowMs += 1
  for (let at = 0; at < 100; at++) refused.note({ ...one, id: timeOrderedId('req_', nowMs), atMs: nowMs })
  expect((await refused.list(accountId, { limit: 1, fromMs: nowMs })).length).toBe(1)
})
