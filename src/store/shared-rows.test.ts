import { expect, test } from 'bun:test'
import { noChanges } from './change-log.ts'
import { SharedRows } from './shared-rows.ts'
import type { Row, WriteOutcome } from './statement.ts'
import type { Store } from './store.ts'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

/** A store whose queries and transactions end when a test says so. */
function open() {
  const queries: ((name: string) => void)[] = []
  const writes: ((outcome: WriteOutcome) => void)[] = []
  const taken: string[] = []
  const store = {
    changes: noChanges,
    query: () => new Promise<Row[]>((resolve) => queries.push((name) => resolve([{ id: 'a', name }]))),
    write: () => new Promise<WriteOutcome>((resolve) => writes.push(resolve)),
  }
  const rows = new SharedRows(store as unknown as Store, {
    kind: 'account',
    all: 'all',
    one: 'one',
    subjectOf: (row) => row['id'] as string,
    take: (_, [row]) => taken.push(row?.['name'] as string),
  })
  return { rows, queries, writes, taken }
}

test('what a query says that began before a write is not taken, and is asked again after the write', async () => {
  const { rows, queries, writes, taken } = open()
  const reloading = rows.reload('a')
  await turn()
  const writing = rows.write('a', [])
  queries[0]?.('old')
  await turn()
  expect([taken, queries.length]).toEqual([[], 1])
  writes[0]?.({ kind: 'written' })
  await writing
  await turn()
  queries[1]?.('new')
  await reloading
  expect(taken).toEqual(['new'])
})

test('a write that begins with the answer of a query comes before it', async () => {
  const { rows, queries, writes, taken } = open()
  const reloading = rows.reload('a')
  await turn()
  queries[0]?.('old')
  // The answer is there, and has not been taken yet.
  const writing = rows.write('a', [])
  await turn()
  expect(taken).toEqual([])
  writes[0]?.({ kind: 'written' })
  await writing
  await turn()
  queries[1]?.('new')
  await reloading
  expect(taken).toEqual(['new'])
})

test('a subject that is being written is read after all of its writes, and other subjects at once', async () => {
  const { rows, queries, writes, taken } = open()
  const writing = [rows.write('a', []), rows.write('a', [])]
  const reloading = [rows.reload('a'), rows.reload('b')]
  await turn()
  expect(queries).toHaveLength(1)
  queries[0]?.('of b')
  writes[0]?.({ kind: 'written' })
  await turn()
  expect([queries.length, taken]).toEqual([1, ['of b']])
  writes[1]?.({ kind: 'written' })
  await Promise.all(writing)
  await turn()
  queries[1]?.('of a')
  await Promise.all(reloading)
  expect(taken).toEqual(['of b', 'of a'])
})

test('after a refusal memory has what the database has', async () => {
  const { rows, queries, writes, taken } = open()
  const writing = rows.tryWrite('a', [])
  writes[0]?.({ kind: 'refused', step: 0, reason: 'taken' })
  await turn()
  queries[0]?.('as before')
  expect(await writing).toMatchObject({ kind: 'refused' })
  expect(taken).toEqual(['as before'])
})
