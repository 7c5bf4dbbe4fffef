import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyBooks } from './gateway.ts'
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
