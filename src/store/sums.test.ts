import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addingStatement, statement, type SqlValue, type WriteStep } from './statement.ts'
import { openStore } from './store.ts'
import { AddedSums } from './sums.ts'
import { bindOf, encodeTx } from './wire.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sums-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SQL = `INSERT INTO tally VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET n = n + excluded.n, times = times + excluded.times`
const add = addingStatement(SQL, 1)
const take = (sums: AddedSums, step: WriteStep): boolean => sums.take(encodeTx([step]), 0)
const rowsOf = (sums: AddedSums): unknown => [...sums.steps()].map((step) => bindOf(step, 0))
const adding = (...bind: SqlValue[]): WriteStep => ({ run: add, bind, changes: 1 })

test('additions to one row are combined, rows stay separate, and nothing is left for the next commit', () => {
  const sums = new AddedSums()
  sums.define(add.slot, 1)
  const taken = [adding('a', 1, 1), adding('b', 10, 1), adding('a', 2, 1)].map((step) => take(sums, step))
  expect(taken).toEqual([true, true, true])
  expect(rowsOf(sums)).toEqual([
    ['a', 3, 2],
    ['b', 10, 1],
  ])
  sums.clear()
  expect([...sums.steps()]).toEqual([])
})

test('other statements, and sums that would not be exact, run at once', () => {
  const sums = new AddedSums()
  sums.define(add.slot, 1)
  const other = statement(SQL)
  expect(take(sums, { run: other, bind: ['a', 1, 1] })).toBe(false)
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  expect([most, 1n, most + 1n, 2n].map((n) => take(sums, adding('a', n, 1)))).toEqual([true, false, false, false])
  expect(rowsOf(sums)).toEqual([['a', Number(most), 1]])
  sums.clear()
  const near = Number.MAX_SAFE_INTEGER - 1
  expect([near, 2].map((times) => take(sums, adding('a', 5, times)))).toEqual([true, false])
  expect(rowsOf(sums)).toEqual([['a', 5, near]])
  sums.clear()
  for (const odd of [null, 0.5]) {
    expect(['a', 'a'].map((name) => take(sums, adding(name, odd, 1)))).toEqual([true, false])
    sums.clear()
  }
})

test('a commit adds what its transactions add, for any refused ones among them', async () => {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const table = 'CREATE TABLE tally (name TEXT PRIMARY KEY, n INTEGER CHECK (n < 1000), times INTEGER) STRICT'
  await store.write([{ run: statement(table), bind: [] }])
  const insert = statement("INSERT INTO tally VALUES ('taken ' || ?, 0, 0)")
  const taking = (name: string): WriteStep => ({ run: insert, bind: [name], changes: 1 })
  const huge = 2n ** 60n
  const rounds: readonly (readonly WriteStep[])[][] = [
    [[adding('a', 1, 1)], [taking('x'), adding('a', 2, 1)], [adding('b', 5, 1)], [adding('a', 4, 1)]],
    // It is refused at its first step by an error, so all transactions of the commit run one by one.
    [[adding('a', 8, 1)], [taking('x'), adding('a', 100, 1)], [adding('a', 16, 1)]],
    // Each is possible alone, but not both. No other transaction is refused with them.
    [[adding('a', 600, 1)], [adding('a', 700, 1)], [adding('b', 5, 1)]],
    [[adding('a', huge, 1)], [adding('b', 7, 1)]],
    // Nothing of a refused transaction is left.
    [[adding('b', 1, 1)]],
  ]
  const outcomes = []
  for (const round of rounds) {
    outcomes.push((await Promise.all(round.map((steps) => store.write(steps)))).map(({ kind }) => kind === 'written'))
  }
  expect(outcomes).toEqual([[true, true, true, true], [true, false, true], [true, false, true], [false, true], [true]])
  const rows = await store.query("SELECT name, n, times FROM tally WHERE name NOT LIKE 'taken%' ORDER BY name")
  expect(rows.map(({ name, n, times }) => [name, Number(n), Number(times)])).toEqual([
    ['a', 631, 6],
    ['b', 18, 4],
  ])
  await store.close()
})
