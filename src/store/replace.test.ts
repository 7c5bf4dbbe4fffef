import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileSwap } from './file-swap.ts'
import { migrate } from './migrate.ts'
import { replaceDatabase, stageBackup } from './replace.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-replace-'))
const at = (name: string): string => join(folder, name)
const paths = { staged: at('new.db'), path: at('tollgate.db'), aside: at('tollgate.db.before') }
afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(at(name), { recursive: true })
})

function make(path: string, mark: number): void {
  const db = new Database(path)
  db.exec(`CREATE TABLE t (x); PRAGMA user_version = ${mark}`)
  db.close()
}

function markOf(path: string): number {
  const db = new Database(path, { readonly: true })
  try {
    return (db.query('PRAGMA user_version').get() as { user_version: number }).user_version
  } finally {
    db.close()
  }
}

test('a database is replaced and kept, and a later failure undoes both', () => {
  make(paths.staged, 2)
  make(paths.path, 1)
  writeFileSync(at('key'), 'old')
  const swap = new FileSwap()
  replaceDatabase(swap, paths)
  expect([markOf(paths.path), markOf(paths.aside)]).toEqual([2, 1])
  swap.rename(at('key'), at('key.before'))
  expect(() => swap.rename(at('key.restoring'), at('key'))).toThrow('ENOENT')
  expect(swap.takeBack()).toEqual([])
  expect(readdirSync(folder).toSorted()).toEqual(['key', 'new.db', 'tollgate.db'])
  expect([markOf(paths.path), markOf(paths.staged)]).toEqual([1, 2])
})

test('without a new database, the old one keeps its place and its name', () => {
  make(paths.path, 1)
  const swap = new FileSwap()
  expect(() => replaceDatabase(swap, paths)).toThrow('ENOENT')
  expect(swap.takeBack()).toEqual([])
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
  expect(markOf(paths.path)).toBe(1)
})

test('a damaged database is kept unchanged, and is restored unchanged', () => {
  const damaged = 'no database at all '.repeat(1000)
  make(paths.staged, 2)
  writeFileSync(paths.path, damaged)
  const swap = new FileSwap()
  replaceDatabase(swap, paths)
  expect(readFileSync(paths.aside, 'utf8')).toBe(damaged)
  expect(swap.takeBack()).toEqual([])
  expect(readFileSync(paths.path, 'utf8')).toBe(damaged)
  expect(readdirSync(folder).toSorted()).toEqual(['new.db', 'tollgate.db'])
})

test('an undone restore into an empty folder leaves it empty', () => {
  make(paths.staged, 2)
  const swap = new FileSwap()
  replaceDatabase(swap, paths)
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
  expect(swap.takeBack()).toEqual([])
  expect(readdirSync(folder)).toEqual(['new.db'])
})

test('a damaged backup, or one whose ledger does not add up, is refused by its name', () => {
  const file = at('backup.db')
  const migrations = at('migrations')
  cpSync(join(import.meta.dir, 'migrations'), migrations, { recursive: true })
  for (const name of readdirSync(migrations).filter((one) => one >= '0016')) rmSync(join(migrations, name))
  migrate(file, migrations)
  const db = new Database(file)
  db.exec(
    "INSERT INTO journal (id, kind, ref, created_at) VALUES (1, 'credit', 'x', 1); INSERT INTO entry VALUES (1, 'a', 5)",
  )
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
  expect(stageBackup(file, paths.staged)).toEqual({
    kind: 'refused',
    message: expect.stringMatching(
      /backup\.db cannot be upgraded: the ledger of before is broken.*journal 1.*sum to 5/,
    ) as string,
  })
  const bytes = readFileSync(file)
  for (let page = 1; page * 4_096 < bytes.length; page++) bytes.fill(0xa5, page * 4_096, page * 4_096 + 200)
  writeFileSync(file, bytes)
  expect(stageBackup(file, paths.staged)).toEqual({
    kind: 'refused',
    message: expect.stringMatching(/backup\.db is damaged: /) as string,
  })
})
