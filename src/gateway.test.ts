import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bookChecks, verifyBooks } from './gateway.ts'
import { openStore } from './store/store.ts'

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
    expect([code, ...db.prepare(sql).columnNames]).toEqual([code, 'subject', ...(named as string[])])
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
    const plan = db.query<{ detail: string }, string[]>(`EXPLAIN QUERY PLAN ${sql}`).all(...bind)
    expect([code, plan.filter(({ detail }) => detail.startsWith('SCAN ')).length]).toEqual([code, 1])
  }
  db.close()
  await store.close()
  rmSync(folder, { recursive: true })
})
