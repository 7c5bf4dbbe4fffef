import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bookChecks, verifyBooks } from './gateway.ts'
import { openStore } from './store/store.ts'

test('the books are not verified on the thread that requests read on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-books-'))
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const query = (): never => {
    throw new Error('the thread of the requests')
  }
  expect(await verifyBooks({ ...store, query })).toEqual([])
  await store.close()
  rmSync(folder, { recursive: true })
})

test('what is said of a broken row is in the row, and each check has a code of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-books-'))
  const store = await openStore(folder, () => undefined)
  await store.close()
  const db = new Database(join(folder, 'tollgate.db'))
  for (const { code, found, sql } of bookChecks) {
    const named = [...found.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect([code, ...db.prepare(sql).columnNames]).toEqual([code, 'subject', ...(named as string[])])
  }
  expect(new Set(bookChecks.map(({ code }) => code)).size).toBe(bookChecks.length)
  db.close()
  rmSync(folder, { recursive: true })
})
