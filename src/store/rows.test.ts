import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Rows } from './rows.ts'
import { rowStatement, statement, type WriteStep } from './statement.ts'
import { openStore, type Store } from './store.ts'
import { encodeTx, stepEnd } from './wire.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-rows-'))
let store: Store

beforeAll(async () => {
  store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const bird = 'CREATE TABLE bird (name TEXT PRIMARY KEY, eggs INTEGER CHECK (eggs >= 0), note TEXT) STRICT'
  await store.write([{ run: statement(bird), bind: [] }])
  await store.write([{ run: statement('CREATE TABLE nest (id INTEGER PRIMARY KEY, room INTEGER) STRICT'), bind: [] }])
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const insertBird = rowStatement('bird', 'name, eggs, note')
const insertNest = statement('INSERT INTO nest VALUES (?, ?)')
const takeRoom = statement('UPDATE nest SET room = room - 1 WHERE id = ?1 AND room > 0')
const bird = (name: string, eggs: number | bigint = 1, note: string | null = null): WriteStep => ({
  run: insertBird,
  bind: [name, eggs, note],
})

async function writeAtOnce(...transactions: readonly (readonly WriteStep[])[]): Promise<readonly boolean[]> {
  const outcomes = await Promise.all(transactions.map((steps) => store.write(steps)))
  return outcomes.map(({ kind }) => kind === 'written')
}

async function birds(like: string): Promise<readonly unknown[][]> {
  const rows = await store.query('SELECT name, eggs, note FROM bird WHERE name LIKE ? ORDER BY rowid', [like])
  return rows.map(({ name, eggs, note }) => [name, eggs, note])
}

// This test is first. A row with a leftover key would send each later commit down the slow path, which hides it.
test('nothing is left for the next commit, even after a refused one', async () => {
  await store.write([{ run: statement("CREATE TABLE song (tune TEXT CHECK (tune <> 'none')) STRICT"), bind: [] }])
  const insertSong = rowStatement('song', 'tune')
  const song = (tune: string): WriteStep => ({ run: insertSong, bind: [tune] })
  expect(await writeAtOnce([song('a')])).toEqual([true])
  expect(await writeAtOnce([song('b')])).toEqual([true])
  expect(await writeAtOnce([song('c')], [song('none')], [song('d')])).toEqual([true, false, true])
  expect(await writeAtOnce([song('e')])).toEqual([true])
  const tunes = await store.query('SELECT tune FROM song ORDER BY rowid')
  expect(tunes.map(({ tune }) => tune)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('all rows of a commit are written with their own values, for any number of rows', async () => {
  for (const count of [1, 2, 3, 63, 64, 65, 200]) {
    const names = Array.from({ length: count }, (_, i) => `c${count}-${i}`)
    const written = await writeAtOnce(...names.map((name, i) => [bird(name, i, i % 2 === 0 ? null : `"${name}"`)]))
    expect(written).toEqual(names.map(() => true))
    expect(await birds(`c${count}-%`)).toEqual(
      names.map((name, i) => [name, BigInt(i), i % 2 === 0 ? null : `"${name}"`]),
    )
  }
})

test('each commit writes its own rows only', () => {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE bird (name TEXT, eggs INTEGER, note TEXT)')
  const rows = new Rows()
  rows.define(db, insertBird.slot, { sql: insertBird.sql, tuple: insertBird.tuple ?? '' })
  for (const round of [['a', 'b', 'c'], ['d']]) {
    const tx = encodeTx(round.map((name) => bird(name)))
    for (let at = 0; at < tx.length; at = stepEnd(tx, at)) expect(rows.take(tx, at)).toBe(true)
    rows.write()
    rows.clear()
    rows.write()
  }
  expect(db.query('SELECT name FROM bird').values()).toEqual([['a'], ['b'], ['c'], ['d']])
  rows.finalize()
  db.close()
})

test('a value that is the same in every row is stated once', async () => {
  const insertOwl = rowStatement('bird', 'name', { note: "'it''s an owl'", eggs: '2' })
  const owls = ['o1', 'o2', 'o3']
  expect(await writeAtOnce(...owls.map((name) => [{ run: insertOwl, bind: [name] }]))).toEqual([true, true, true])
  // This also holds if each row is written by itself, because one of them is refused.
  expect(await writeAtOnce([{ run: insertOwl, bind: ['o4'] }], [bird('o1')])).toEqual([true, false])
  expect(await birds('o%')).toEqual([...owls, 'o4'].map((name) => [name, 2n, "it's an owl"]))
})

test('numbers beyond 2^53 are exact', async () => {
  await writeAtOnce([bird('huge', 2n ** 62n)], [bird('safe', 2n ** 53n - 1n)])
  expect(await birds('huge')).toEqual([['huge', 2n ** 62n, null]])
  expect(await birds('safe')).toEqual([['safe', 2n ** 53n - 1n, null]])
})

test('a refused row is refused with its transaction only', async () => {
  await writeAtOnce([bird('taken')])
  const written = await writeAtOnce(
    [bird('r1')],
    [bird('r2'), bird('taken')],
    [bird('r3', -1)],
    [bird('r4'), bird('r5')],
    [bird('r1')],
  )
  expect(written).toEqual([true, false, false, true, false])
  expect((await birds('r%')).map(([name]) => name)).toEqual(['r1', 'r4', 'r5'])
})

test('steps after a refused condition write no rows', async () => {
  await writeAtOnce([{ run: insertNest, bind: [1, 2], changes: 1 }])
  const taking = (name: string): WriteStep[] => [{ run: takeRoom, bind: [1], changes: 1 }, bind(name)]
  const bind = (name: string): WriteStep => bird(`n-${name}`)
  expect(await writeAtOnce(taking('a'), taking('b'), taking('c'), [bind('d')])).toEqual([true, true, false, true])
  // Its own row was kept for the end of the commit when the condition failed.
  const late = [bind('e'), ...taking('f')]
  expect(await writeAtOnce([bind('g')], late, [bind('h')])).toEqual([true, false, true])
  expect((await birds('n-%')).map(([name]) => name)).toEqual(['n-a', 'n-b', 'n-d', 'n-g', 'n-h'])
})
