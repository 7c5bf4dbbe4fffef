import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileSwap } from './file-swap.ts'
import { replaceDatabase } from './replace.ts'

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

test('a database is replaced and kept, and what fails after that takes all of it back', () => {
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

test('where no new database comes, the old one keeps its place and its one name', () => {
  make(paths.path, 1)
  const swap = new FileSwap()
  expect(() => replaceDatabase(swap, paths)).toThrow('ENOENT')
  expect(swap.takeBack()).toEqual([])
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
  expect(markOf(paths.path)).toBe(1)
})

test('a damaged database is kept as it is, and goes back as it was', () => {
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

test('into an empty place: taken back, it is empty again', () => {
  make(paths.staged, 2)
  const swap = new FileSwap()
  replaceDatabase(swap, paths)
  expect(readdirSync(folder)).toEqual(['tollgate.db'])
  expect(swap.takeBack()).toEqual([])
  expect(readdirSync(folder)).toEqual(['new.db'])
})
