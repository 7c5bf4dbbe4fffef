/** The files, names and tables in the documents for contributors must exist. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { publicRoutes } from '../src/edge/routes.ts'
import { migrate } from '../src/store/migrate.ts'

const ROOT = resolve(import.meta.dir, '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const inFolder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : []))
const decisions = inFolder('docs/decisions')
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...inFolder('docs'), ...decisions]

test.each(documents)('the links of %s lead to files', (path) => {
  const targets = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) =>
    /^(?:https?:|#)/.test(target) ? [] : [target.replace(/#.*/, '')],
  )
  expect(targets.filter((target) => !existsSync(resolve(ROOT, path, '..', target)))).toEqual([])
})

test.each(['CONTRIBUTING.md', 'docs/glossary.md', 'docs/data-model.md', ...decisions])(
  'the files that %s names exist',
  (path) => {
    const named = [...read(path).matchAll(/`((?:src|test|tools|web|bench|bin|docs|deploy)\/[\w./-]+)`/g)]
    expect(named.map(([, name = '']) => name).filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
  },
)

test('a name in the glossary exists in its file', () => {
  const rows = [...read('docs/glossary.md').matchAll(/\| `(src\/[\w./-]+)`(?:, `(\w+)`)? \|$/gm)]
  expect(rows.length).toBeGreaterThan(60)
  const isUnknown = (path: string, name: string): boolean => !new RegExp(`\\b${name}\\b`).test(read(path))
  expect(rows.flatMap(([, path = '', name]) => (name && isUnknown(path, name) ? [`${path}: ${name}`] : []))).toEqual([])
})

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('a name that %s places in a file exists there', (path) => {
  const placed = [...read(path).matchAll(/`(\w+)` (?:in|of)\s+`((?:\w[\w-]*\/)*[\w.-]+\.ts)`/g)]
  const fileOf = (name: string): string | undefined =>
    [name, `src/${name}`].find((file) => existsSync(join(ROOT, file)))
  const missing = placed.flatMap(([, name = '', file = '']) => {
    const found = fileOf(file)
    return found && new RegExp(`\\b${name}\\b`).test(read(found)) ? [] : [`${name} in ${file}`]
  })
  expect(placed.length).toBeGreaterThan(2)
  expect(missing).toEqual([])
})

test('the files in the map of the code exist', () => {
  const named = [...read('ARCHITECTURE.md').matchAll(/(?:`|\*\*)((?:[a-z][\w-]*\/)*[a-z][\w.-]*\.ts)(?:`|\*\*)/g)]
  const isThere = (name: string): boolean => existsSync(join(ROOT, name)) || existsSync(join(ROOT, 'src', name))
  expect(named.length).toBeGreaterThan(20)
  expect(named.map(([, name = '']) => name).filter((name) => !isThere(name))).toEqual([])
})

test('the last layer of the map has every file at the root of src, and no other', () => {
  const [, row = ''] = /^\| 6 \| (.+?) \|/m.exec(read('ARCHITECTURE.md')) ?? []
  const files = readdirSync(join(ROOT, 'src')).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const named = [...row.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => `${name}.ts`)
  expect(named.toSorted()).toEqual(files.toSorted())
})

test('docs/api.md has the name of every endpoint in records', () => {
  const names = new Set(publicRoutes.flatMap((route) => (route.limits === 'key_and_account' ? [route.recordedAs] : [])))
  expect(names.size).toBeGreaterThan(5)
  expect([...names].filter((name) => !read('docs/api.md').includes(`\`${name}\``))).toEqual([])
})

test('decisions are numbered without a gap and listed, and the map leads to the list', () => {
  const names = decisions.map((path) => path.replace('docs/decisions/', '')).filter((name) => name !== 'README.md')
  expect(names.toSorted().map((name) => Number(name.slice(0, 3)))).toEqual(names.map((_, i) => i + 1))
  const list = read('docs/decisions/README.md')
  expect(names.filter((name) => !list.includes(`${name})`))).toEqual([])
  expect(read('ARCHITECTURE.md')).toContain('(docs/decisions/README.md)')
})

test('the newest version of the changelog is that of the package', () => {
  const versions = [...read('CHANGELOG.md').matchAll(/^## \[?(\d+\.\d+\.\d+)\]? – (\d{4}-\d{2}-\d{2})$/gm)]
  expect(versions.length).toBeGreaterThan(0)
  expect(versions[0]?.[1]).toBe(manifest.version)
})

type Column = { readonly name: string; readonly pk: number }
type Reference = { readonly from: string; readonly table: string }

test('docs/data-model.md has every table with its keys, and an owner for each', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-tables-'))
  migrate(join(folder, 'tollgate.db'))
  const db = new Database(join(folder, 'tollgate.db'))
  const rowsOf = <Row>(sql: string): Row[] => db.query(sql).all() as Row[]
  const tables = rowsOf<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  const page = read('docs/data-model.md')
  const drawn = [...page.matchAll(/^ {2}(\w+) \{\n([^}]*)\}/gm)].map(([, name = '', body = '']) => ({ name, body }))
  expect(drawn.map(({ name }) => name).toSorted()).toEqual(tables.map(({ name }) => name).toSorted())
  for (const { name, body } of drawn) {
    const columns = rowsOf<Column>(`PRAGMA table_xinfo(${name})`)
    const references = rowsOf<Reference>(`PRAGMA foreign_key_list(${name})`)
    const marked = (mark: string): string[] =>
      [...body.matchAll(/^ +\w+ (\w+) (.+)$/gm)].flatMap(([, column = '', marks = '']) =>
        marks.split(', ').includes(mark) ? [column] : [],
      )
    const primary = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
    expect([name, marked('PK')]).toEqual([name, primary.map((column) => column.name)])
    expect([name, marked('FK').toSorted()]).toEqual([name, references.map(({ from }) => from).toSorted()])
    for (const { table } of references)
      expect(page).toMatch(new RegExp(`^ {2}${table} [|o}{]+--[|o}{]+ ${name} :`, 'm'))
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| \`src/`, 'm'))
  }
  db.close()
  rmSync(folder, { recursive: true })
})
