import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bookChecks, verifyBooks } from './gateway.ts'
import { onPostgres } from './store/postgres-contract.ts'
import { onSqlite } from './store/sqlite-contract.ts'
import { statement, type SqlValue } from './store/statement.ts'
import { mustWrite, openStore } from './store/store.ts'

test('the books are not verified on the thread of requests’ queries', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-books-'))
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const query = (): never => {
    throw new Error('the thread of the requests')
  }
  expect(await verifyBooks({ ...store, query }, 'run_1')).toEqual([])
  await store.close()
  rmSync(folder, { recursive: true })
})

test('the finding about a broken row names the row, and each check has its own code', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-books-'))
  const store = await openStore(folder, () => undefined)
  await store.close()
  const db = new Database(join(folder, 'tollgate.db'))
  const checks = bookChecks('run_1')
  for (const { code, found, sql } of checks) {
    const named = [...found.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect([code, ...db.prepare(statement(sql).sql).columnNames]).toEqual([code, 'subject', ...(named as string[])])
  }
  expect(new Set(checks.map(({ code }) => code)).size).toBe(checks.length)
  db.close()
  rmSync(folder, { recursive: true })
})

test('a broken life of a hold and a key without its hold are found, and nothing else is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-books-'))
  const store = await openStore(folder, () => undefined)
  const db = new Database(join(folder, 'tollgate.db'))
  const hold = db.prepare(
    `INSERT INTO hold (id, account_id, amount, state, cost, settled, written_off, owner, created_at, resolved_at)
     SELECT ?1, 'a', 0, ?2, none, none, none, ?3, 1, iif(?2 = 'open', NULL, 2)
     FROM (SELECT iif(?2 = 'settled', 0, NULL) AS none)`,
  )
  for (const id of ['own', 'key_own']) hold.run(id, 'open', 'run_2')
  hold.run('stale', 'open', 'run_1')
  hold.run('of_task', 'open', 'task')
  hold.run('resolved', 'released', 'run_1')
  for (const id of ['once', 'once.2', 'others', 'unkeyed']) hold.run(id, 'settled', '')
  const key = db.prepare(
    `INSERT INTO idempotency (account_id, key, fingerprint, request_id, status, created_at) VALUES (?, ?2, x'00', ?2, ?, 1)`,
  )
  key.run('a', 'key_own', null)
  key.run('a', 'once', 200)
  key.run('b', 'others', 200)
  const asked = ['hold_life', 'idempotency']
  const found = (await verifyBooks(store, 'run_2')).filter(({ code }) => asked.includes(code))
  expect(found.map(({ code, subject, detail }) => `${code}: ${subject}, ${detail}`)).toEqual([
    'hold_life: stale, made by run_1',
    'idempotency: b others, hold none',
  ])
  // Even in a large ledger, no check joins all rows of one table with all rows of another.
  for (const { code, sql, bind = [] } of bookChecks('run_2').filter((check) => asked.includes(check.code))) {
    const plan = db.query<{ detail: string }, string[]>(`EXPLAIN QUERY PLAN ${statement(sql).sql}`).all(...bind)
    expect([code, plan.filter(({ detail }) => detail.startsWith('SCAN ')).length]).toEqual([code, 1])
  }
  db.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

const SUMS = `requests, failed, cut, estimated, input_fresh, input_cached, cache_write, output_text, output_reasoning,
  input_image, output_image, images, seconds, charged, written_off, upstream_cost,
  first_0, first_1, first_2, first_3, first_4, first_5, first_6, first_7, first_8, first_9`
const ZEROS = '0, 0, 0, 0, 0, 0, 0'
const insertAccount = `INSERT INTO account (id, name, status, posted, held, created_at)
  VALUES (?1, ?1, 'active', 4000000000000000000, ?2, 0)`
const insertEntry = 'INSERT INTO entry (journal_id, account_id, amount) VALUES (?, ?, ?)'
const insertOpen = `INSERT INTO hold (id, account_id, amount, state, owner, created_at) VALUES (?, 'a', 0, 'open', ?, 0)`
const insertSettled = `INSERT INTO hold
  (id, account_id, amount, state, cost, settled, written_off, price_card_id, owner, created_at, resolved_at)
  VALUES (?, 'a', 0, 'settled', 30, 20, 10, 7, '', 0, 0)`
const insertRecord = `INSERT INTO request_record (account_id, id, key_id, endpoint, model, stream, status, outcome,
  input_fresh, input_cached, cache_write_5m, cache_write_1h, output_text, output_reasoning, pieces, held, charged,
  written_off, upstream_cost, attempts, created_at, total_ms)
  VALUES ('a', ?, 'k', 'chat', 'm', 0, 200, ?, ?, 0, 0, 0, 0, 0, ?, 0, ?, 0, 0, '[]', 0, 0)`
const PIECES = '[{"unit":"piece:image/1","count":3},{"unit":"piece:second/2","count":4}]'

/** Rows that break every invariant but the one that a CHECK keeps. */
const broken: readonly (readonly [sql: string, ...bind: SqlValue[]])[] = [
  [insertAccount, 'a', 3],
  [insertAccount, 'b', 0],
  ["INSERT INTO journal (id, kind, ref, reason, created_at) VALUES (1, 'credit', 'r', 'r', 0)"],
  [insertEntry, 1, 'a', 5],
  [insertEntry, 99, 'a', -5],
  [insertSettled, 'h1'],
  [insertSettled, 'h2'],
  [insertOpen, 'h3', 'former'],
  [insertOpen, 'h4', 'task'],
  [insertRecord, 'h2', 'failed', 0, PIECES, 19],
  [insertRecord, 'h5', 'cut', 1, null, 0],
  ["INSERT INTO price_card (id, subject, subject_id, effective_from) VALUES (900, 'account', 'b/m', 0)"],
  ["INSERT INTO price (card_id, unit, nano_per_million) VALUES (900, 'inputFresh', 2000000)"],
  [insertRecord, 'h6', 'completed', 1, null, 5],
  [
    `UPDATE request_record SET usage_source = 'reported', price_card_id = 900, input_image = 0, output_image = 0
     WHERE id = 'h6'`,
  ],
  [
    `INSERT INTO usage_hour (account_id, hour, key_id, model, endpoint, ${SUMS})
     VALUES ('b', 5, 'k', 'm', 'chat', 2, 1, 0, 0, ${ZEROS}, 9, 0, 40, 0, 0, ${ZEROS}, 0, 0, 0)`,
  ],
  [
    `INSERT INTO redemption_code (id, batch_id, digest, last4, amount, note, created_at, redeemed_at, redeemed_by)
     VALUES ('code', '', '', '', 5, '', 0, 1, 'a')`,
  ],
  [
    `INSERT INTO idempotency (account_id, key, fingerprint, request_id, created_at) VALUES ('a', 'k', ?, 'req_k', 0)`,
    new Uint8Array([1]),
  ],
  [
    `INSERT INTO response (account_id, id, state, head, standing, input, output, created_at)
     VALUES ('a', 'resp_1', 'running', '', '', '', '', 0)`,
  ],
  [
    `INSERT INTO video_task
     (id, account_id, key_id, request_id, model, stage, wish, terms, held, created_at, deadline_at)
     VALUES ('t', 'a', 'k', 'req_t', 'm', 'queued', '', '', 0, 0, 0)`,
  ],
]

test('rows that break the invariants are found alike on both stores, in the same words', async () => {
  const findingsOn = async (on: typeof onSqlite): Promise<string[]> => {
    const under = await on(() => undefined)()
    await mustWrite(
      under.store,
      broken.map(([sql, ...bind]) => ({ run: statement(sql), bind, changes: 1 })),
    )
    const found = await verifyBooks(under.store, 'own')
    await under.close()
    return found.map(({ code, subject, detail }) => `${code}: ${subject}, ${detail}`).toSorted()
  }
  const [sqlite, postgres] = [await findingsOn(onSqlite), await findingsOn(onPostgres)]
  expect(postgres).toEqual(sqlite)
  const codes = new Set(sqlite.map((line) => line.slice(0, line.indexOf(':'))))
  const all = bookChecks('own').map(({ code }) => code)
  expect(all.filter((code) => !codes.has(code))).toEqual(['below_zero'])
})
