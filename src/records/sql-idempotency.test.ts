import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PortUnderTest } from '../store/port-contract.ts'
import { onInstances, onPostgres } from '../store/postgres-contract.ts'
import { noChanges } from '../store/change-log.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { DATABASE, mustWrite, openStore, type Store } from '../store/store.ts'
import {
  describeIdempotencyContract,
  describeIdempotencyOfInstances,
  type IdempotencyUnderTest,
} from './idempotency-contract.ts'
import { Transcript, type Idempotency, type IdempotencyLock } from './idempotency.ts'
import { forgetExpired, openSqlIdempotency } from './sql-idempotency.ts'
import { DAY_MS, MIB } from '../lib/primitives/units.ts'

const bounds = { bytesPerAccountMax: 1e9, room: { isShort: false } }

type StoredPort = PortUnderTest<Idempotency> & { readonly store: Store }
const expiring = (under: StoredPort): IdempotencyUnderTest => ({
  ...under,
  expire: (requestId) => mustWrite(under.store, forgetExpired(requestId)),
})

for (const [name, on] of Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres })) {
  describeIdempotencyContract(name, async (few) =>
    expiring(await on((store) => openSqlIdempotency(store, { ...few, room: { isShort: false } }))()),
  )
}
describeIdempotencyOfInstances('PostgreSQL', async () => {
  const under = await onInstances((store) => openSqlIdempotency(store, bounds))()
  return { ...under, first: expiring(under.first), second: expiring(under.second) }
})

const folder = mkdtempSync(join(tmpdir(), 'tollgate-idempotency-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('answers older than a day are forgotten, but never a running request', async () => {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const db = new Database(join(folder, DATABASE))
  const insert = db.prepare(
    `INSERT INTO idempotency (account_id, key, fingerprint, request_id, status, created_at) VALUES ('a', ?1, x'00', ?1, ?2, ?3)`,
  )
  db.transaction(() => {
    for (let i = 0; i < 450; i++) insert.run(`old-${i}`, 200, Date.now() - DAY_MS - 60_000)
    insert.run('running', null, Date.now() - DAY_MS - 120_000)
    insert.run('young', 200, Date.now() - DAY_MS + 60_000)
  })()
  db.close()
  await (await openSqlIdempotency(store, bounds)).sweep()
  const left = await store.query('SELECT key FROM idempotency ORDER BY key')
  expect(left.map((row) => row['key'])).toEqual(['running', 'young'])
  await store.close()
})

const open = (name: string): Promise<Store> =>
  openStore(join(folder, name), (message) => {
    throw new Error(message)
  })
async function lockOf(idempotency: Idempotency, key: string, account = 'a'): Promise<IdempotencyLock> {
  const outcome = await idempotency.lock(account, { key, fingerprint: new Uint8Array([1]) })
  if (outcome.kind !== 'locked') throw new Error(outcome.kind)
  return outcome.lock
}
const answer = (body: string) => ({ status: 200, headers: {}, body })

test('an answer is kept up to a mebibyte of UTF-8, whatever its number of characters', async () => {
  const store = await open('mebibyte')
  const lock = await lockOf(await openSqlIdempotency(store, bounds), 'k')
  const isKept = (body: string): boolean => {
    const transcript = new Transcript()
    for (let at = 0; at < body.length; at += 1000) transcript.add(body.slice(at, at + 1000))
    const kept = lock.keep(answer(body))[0]?.bind[2] === body
    expect(transcript.content === body).toBe(kept)
    return kept
  }
  expect(isKept('a'.repeat(MIB))).toBe(true)
  expect(isKept('a'.repeat(MIB + 1))).toBe(false)
  expect(isKept('\u{1f600}'.repeat(MIB / 4))).toBe(true)
  expect(isKept(`${'€'.repeat(MIB / 3)}€`)).toBe(false)
  await store.close()
})

test('the bytes of an account are bounded, counted at the start, and freed with forgotten answers', async () => {
  const store = await open('bounded')
  const few = { ...bounds, bytesPerAccountMax: 250 }
  const end = async (idempotency: Idempotency, key: string, account?: string): Promise<boolean> => {
    const lock = await lockOf(idempotency, key, account)
    await mustWrite(store, [...lock.begin(key)])
    const steps = lock.keep(answer('x'.repeat(100)))
    await mustWrite(store, steps)
    lock.end()
    return steps[0]?.bind[2] !== null
  }
  const first = await openSqlIdempotency(store, few)
  expect([await end(first, 'k1'), await end(first, 'k2'), await end(first, 'k3')]).toEqual([true, true, false])
  expect(await end(first, 'k1', 'b')).toBe(true)
  const second = await openSqlIdempotency(store, few)
  expect(await end(second, 'k4')).toBe(false)
  const age = (key: string): void => {
    const db = new Database(join(folder, 'bounded', DATABASE))
    db.query('UPDATE idempotency SET created_at = 0 WHERE account_id = ? AND key = ?').run('a', key)
    db.close()
  }
  // A key that is used again after its day takes no more room than before.
  age('k1')
  expect([await end(second, 'k1'), await end(second, 'k5')]).toEqual([true, false])
  age('k2')
  await second.sweep()
  expect([await end(second, 'k6'), await end(second, 'k7')]).toEqual([true, false])
  const short = await openSqlIdempotency(store, { ...bounds, room: { isShort: true } })
  expect(await end(short, 'k8')).toBe(false)
  await store.close()
})

test('an answer that is forgotten by a new use of its key is counted once, even with a sweep between', async () => {
  const store = await open('swept')
  const idempotency = await openSqlIdempotency(store, bounds)
  const keep = async (key: string, bytes: number): Promise<void> => {
    const made = await lockOf(idempotency, key)
    await mustWrite(store, [...made.begin(`r-${key}`), ...made.keep(answer('x'.repeat(bytes)))])
    made.end()
  }
  const { now } = Date
  try {
    await keep('old', 400)
    Date.now = () => now() + DAY_MS + 500
    await keep('fresh', 300)
    const again = await lockOf(idempotency, 'old')
    await idempotency.sweep()
    await mustWrite(store, again.begin('again'))
    again.end()
    expect([idempotency.keepsFor('a'), idempotency.keepsFor('c')]).toEqual([true, false])
    // An answer that is requested during its sweep is not there.
    Date.now = () => now() + 3 * DAY_MS
    const swept = idempotency.sweep()
    const late = await lockOf(idempotency, 'fresh')
    await swept
    await mustWrite(store, late.begin('late'))
    expect(idempotency.keepsFor('a')).toBe(false)
  } finally {
    Date.now = now
  }
  expect(await store.query('SELECT key, request_id FROM idempotency ORDER BY key')).toEqual([
    { key: 'fresh', request_id: 'late' },
    { key: 'old', request_id: 'again' },
  ])
  await store.close()
})

test('concurrent repetitions get the answer, each compared with the first request and not with another', async () => {
  const store = await open('at-once')
  const idempotency = await openSqlIdempotency(store, bounds)
  const ask = (what: number): ReturnType<Idempotency['lock']> =>
    idempotency.lock('a', { key: 'k', fingerprint: new Uint8Array([what]) })
  const kinds = async (...asked: number[]): Promise<string[]> =>
    (await Promise.all(asked.map(ask))).map(({ kind }) => kind)
  // If nobody has used the key, one request is the first, and the others learn that it runs.
  const [first, same, other] = await Promise.all([ask(1), ask(1), ask(2)])
  if (first.kind !== 'locked') throw new Error(first.kind)
  expect([same.kind, other.kind]).toEqual(['running', 'mismatch'])
  await mustWrite(store, [...first.lock.begin('r'), ...first.lock.keep(answer('text'))])
  first.lock.end()
  expect(await kinds(2, 1, 1, 2, 1)).toEqual(['mismatch', 'kept', 'kept', 'mismatch', 'kept'])
  expect(await kinds(1, 2)).toEqual(['kept', 'mismatch'])
  await store.close()
  // If the look-up fails, no request is left waiting.
  const lost = await Promise.allSettled([ask(1), ask(1)])
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a request during another’s lock gets no result from before that lock', async () => {
  for (let turns = 0; turns < 8; turns++) {
    const asked: ((rows: []) => void)[] = []
    const query = (): Promise<[]> => new Promise((resolve) => void asked.push(resolve))
    const opened = openSqlIdempotency({ query, changes: noChanges } as unknown as Store, bounds)
    asked[0]?.([])
    const idempotency = await opened
    const ask = (): ReturnType<Idempotency['lock']> =>
      idempotency.lock('a', { key: 'k', fingerprint: new Uint8Array([1]) })
    const first = ask()
    asked[1]?.([])
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    const second = ask()
    const outcome = await first
    if (outcome.kind !== 'locked') throw new Error(outcome.kind)
    // The first request is complete and on disk. A look-up from before it returns only now.
    if (asked.length > 2) outcome.lock.end()
    asked[2]?.([])
    expect([turns, (await second).kind]).toEqual([turns, 'running'])
  }
})

test('an answer that had expired at the lock is deleted, even if the clock is set back meanwhile', async () => {
  const store = await open('set-back')
  const idempotency = await openSqlIdempotency(store, bounds)
  const first = await lockOf(idempotency, 'k')
  await mustWrite(store, [...first.begin('r1'), ...first.keep(answer('text'))])
  first.end()
  const { now } = Date
  try {
    Date.now = () => now() + DAY_MS + 500
    const second = await lockOf(idempotency, 'k')
    Date.now = now
    await mustWrite(store, second.begin('r2'))
  } finally {
    Date.now = now
  }
  expect(await store.query('SELECT request_id FROM idempotency')).toEqual([{ request_id: 'r2' }])
  await store.close()
})
