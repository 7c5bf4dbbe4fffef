/** Which program a start runs: the built one, unless a source has changed since. */
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { programFile } from '../bin/program.js'

const ROOT = resolve(import.meta.dir, '..')
const BUILT_MS = Date.now() - 60_000
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** A checkout in which everything is older than the built program. */
function checkout(files: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-program-'))
  folders.push(root)
  for (const file of ['src/main.ts', 'sandbox/server.ts', 'package.json', ...files]) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), '')
  }
  for (const name of ['src', 'sandbox', 'src/main.ts', 'sandbox/server.ts', 'package.json']) age(root, name, -1)
  return root
}

const age = (root: string, name: string, ms: number): void =>
  utimesSync(join(root, name), new Date(BUILT_MS + ms), new Date(BUILT_MS + ms))

function runs(root: string): string {
  return programFile(root).slice(root.length + 1)
}

test('a clone runs the built program until a source changes, appears or goes', () => {
  const root = checkout(['dist/program/main.js', 'tools/setup.js', 'src/a.test.ts'])
  age(root, 'src', -1)
  age(root, 'dist/program/main.js', 0)
  expect(runs(root)).toBe('dist/program/main.js')
  for (const name of ['src/main.ts', 'sandbox/server.ts', 'package.json', 'src']) {
    age(root, name, 1)
    expect([name, runs(root)]).toEqual([name, 'src/main.ts'])
    age(root, name, -1)
  }
  expect(runs(root)).toBe('dist/program/main.js')
})

test('a package runs what it came with, whatever the times of its files are', () => {
  const root = checkout(['dist/program/main.js'])
  age(root, 'dist/program/main.js', -10_000)
  expect(runs(root)).toBe('dist/program/main.js')
})

test('without a built program the sources run', () => {
  expect(runs(checkout(['tools/setup.js']))).toBe('src/main.ts')
})

const built = programFile(ROOT)

// After an edit of the sources, only a start or a run of all tests builds them again.
test.skipIf(!built.endsWith('.js'))('the build has a file for each thread and process that the program starts', () => {
  const parts = Array.from(new Bun.Glob('*.js').scanSync(dirname(built)))
  const text = parts.map((part) => readFileSync(join(dirname(built), part), 'utf8')).join('\n')
  const named = Array.from(text.matchAll(/new URL\("\.\/([\w-]+\.js)"/g), ([, name]) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(parts).toEqual(expect.arrayContaining(named))
})
