/** The compressed bytes that a browser loads before the first paint. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KIB } from '../../src/lib/primitives/units.ts'

const dist = resolve(import.meta.dir, '../../web/dist')
type Chunk = { readonly file: string; readonly css?: readonly string[]; readonly imports?: readonly string[] }
const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

/** All files that come with a module: its own, its imports', their imports', and style sheets. */
function filesOf(...names: readonly string[]): ReadonlySet<string> {
  const files = new Set<string>()
  const visit = (name: string): void => {
    const chunk = manifest[name]
    if (!chunk) throw new Error(`${name} is not built`)
    if (files.has(chunk.file)) return
    files.add(chunk.file)
    for (const sheet of chunk.css ?? []) files.add(sheet)
    for (const other of chunk.imports ?? []) visit(other)
  }
  names.forEach(visit)
  return files
}

const weightOf = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + Bun.gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0) / KIB

const page = ['index.html']
const inside = [...page, 'src/app/shell.tsx', 'src/app/inside.ts']
const routes = Object.keys(manifest).filter((name) => name.startsWith('src/routes/'))

test('signing in takes at most 130 KiB', () => {
  expect(weightOf(filesOf(...page, 'src/routes/sign-in.tsx'))).toBeLessThan(130)
  expect(weightOf(filesOf(...page, 'src/routes/setup.tsx'))).toBeLessThan(130)
})

test('the overview takes at most 230 KiB, with all around it', () => {
  expect(weightOf(filesOf(...inside, 'src/routes/overview.tsx'))).toBeLessThan(230)
})

test.each(routes)('%s adds at most 60 KiB to what is there', (route) => {
  const before = filesOf(...inside)
  expect(weightOf([...filesOf(route)].filter((file) => !before.has(file)))).toBeLessThan(60)
})

test('another language is loaded by those who read it', () => {
  const chinese = manifest['src/lib/i18n/zh.ts']?.file ?? ''
  expect(existsSync(join(dist, chinese))).toBe(true)
  expect([...filesOf(...inside, ...routes)]).not.toContain(chinese)
})
