import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { violates, violationIn } from './constraint.ts'
import { statement } from './statement.ts'
import { openStore } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-constraint-'))
afterAll(() => rmSync(folder, { recursive: true }))

const account = statement("INSERT INTO account (id, name, status, created_at) VALUES (?1, ?1, 'active', 0)")
const user = statement("INSERT INTO user (id, account_id, name, role, created_at) VALUES (?1, ?2, ?1, 'member', 0)")
const view = statement("INSERT INTO saved_view (user_id, id, name, query, created_at) VALUES (?, ?, ?, '', 0)")
const card = statement('INSERT INTO price (card_id, tier, unit, nano_per_million) VALUES (?, ?, ?, ?)')

test('a violated unique key is named by its table and columns, and no other refusal is', async () => {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  await store.write([{ run: account, bind: ['acct'] }])
  expect(await store.write([{ run: user, bind: ['u', 'acct'] }])).toEqual({ kind: 'written' })
  await store.write([{ run: view, bind: ['u', 'v1', 'name'] }])
  const named = await store.write([{ run: view, bind: ['u', 'v2', 'name'] }])
  const same = await store.write([{ run: view, bind: ['u', 'v1', 'other'] }])
  expect(named).toMatchObject({ kind: 'refused', step: -1, violation: { constraint: 'saved_view(user_id, name)' } })
  expect(same).toMatchObject({ kind: 'refused', violation: { constraint: 'saved_view(user_id, id)' } })
  expect([violates(named, 'saved_view(user_id, name)'), violates(same, 'saved_view(user_id, name)')]).toEqual([
    true,
    false,
  ])
  // Neither a foreign key nor a condition of a step is a unique key.
  const unknown = await store.write([{ run: card, bind: [77, '', 'token', 1] }])
  const unchanged = await store.write([{ run: view, bind: ['u', 'v3', 'third'], changes: 2 }])
  expect([unknown, unchanged].map((one) => one.kind === 'refused' && one.violation)).toEqual([undefined, undefined])
  await store.close()
})

test('a text that names no unique key is not a violation', () => {
  expect(violationIn('UNIQUE constraint failed: journal.ref')).toEqual({ constraint: 'journal(ref)' })
  for (const text of ['FOREIGN KEY constraint failed', 'CHECK constraint failed: posted >= held', "index 'x'", '']) {
    expect(violationIn(text)).toBeUndefined()
  }
})
