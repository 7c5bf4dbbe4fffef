import { describe, expect, test } from 'bun:test'
import { inspect, readTree, show } from './tidy.ts'

/** The findings in a small tree, as `path:line rule`. */
const found = (tree: Record<string, string>) =>
  inspect(new Map(Object.entries(tree))).map(({ path, line, rule }) => `${path}:${line} ${rule}`)
const lines = (count: number, line: string) => `${line}\n`.repeat(count)

test('the tree is clean', async () => {
  expect(inspect(await readTree(`${import.meta.dir}/..`)).map(show)).toEqual([])
})

describe('between files', () => {
  test('a folder imports lower layers and itself, never sideways or up', () => {
    const tree = {
      'src/ledger/hold.ts': "import { a } from '../domain/a.ts'\nimport { b } from './b.ts'\nexport const c = a + b\n",
      'src/ledger/b.ts': "import type { A } from '../accounts/a.ts'\nexport const b: A = 1\n",
      'src/domain/a.ts': "export const a = (): import('../relay/r.ts').R => 1\n",
      'src/lib/l.ts': "export const load = () => import('../store/s.ts')\n",
    }
    expect(found(tree)).toEqual(['src/domain/a.ts:1 layers', 'src/ledger/b.ts:1 layers', 'src/lib/l.ts:1 layers'])
  })

  test('a file with a row of its own stands above its folder', () => {
    const tree = {
      'src/vendors/probe.ts': "import { send } from '../upstream/send.ts'\nimport { r } from './rules.ts'\nsend(r)\n",
      'src/vendors/rules.ts': "import { p } from './probe.ts'\nexport const r = (): typeof p => 1\n",
      'src/upstream/send.ts': "import { p } from '../vendors/probe.ts'\nexport const send = (): typeof p => 1\n",
    }
    const layers = found(tree).filter((finding) => finding.endsWith('layers'))
    expect(layers).toEqual(['src/upstream/send.ts:1 layers', 'src/vendors/rules.ts:1 layers'])
  })

  test('main imports everything and nothing imports main; a test imports anything', () => {
    const tree = {
      'src/main.ts': "import { c } from './config.ts'\nimport { a } from './cli/a.ts'\nexport const m = c + a\n",
      'src/config.ts': "import { p } from './vendors/p.ts'\nexport const c = p\n",
      'src/vendors/p.ts': 'export const p = 1\n',
      'src/cli/a.ts': "import type { m } from '../main.ts'\nexport const a = (): typeof m => 1\n",
      'src/cli/a.test.ts': "import { m } from '../main.ts'\nimport { x } from '../../test/x.ts'\nm(x)\n",
    }
    expect(found(tree)).toEqual(['src/cli/a.ts:1 layers', 'src/cli/a.ts:1 cycle'])
  })

  test('src imports only src, through no alias, from a known folder', () => {
    const tree = {
      'src/lib/a.ts': "import { x } from '../../tools/x.ts'\nimport { y } from '#lib/y'\nexport const z = x + y\n",
      'src/other/a.ts': 'export const a = 1\n',
    }
    expect(found(tree)).toEqual(['src/lib/a.ts:1 layers', 'src/lib/a.ts:2 path-alias', 'src/other/a.ts:1 layers'])
  })

  test('a cycle is found once, also through type imports and re-exports', () => {
    const tree = {
      'src/lib/a.ts': "import type { B } from './b.ts'\nexport const a = (b: B) => b\n",
      'src/lib/b.ts': "export * from './c.ts'\nexport type B = number\n",
      'src/lib/c.ts': "import { a } from './a.ts'\nexport const c = a(1)\n",
    }
    expect(found(tree)).toEqual(['src/lib/c.ts:1 cycle'])
  })

  test.each(['web/src/lib/', 'bench/', 'tools/', 'test/support/'])('a cycle is found in %s, too', (folder) => {
    const tree = {
      [`${folder}a.ts`]: "import type { B } from './b.ts'\nexport const a = (b: B) => b\n",
      [`${folder}b.ts`]: "import { a } from './a.ts'\nexport type B = Parameters<typeof a>\n",
    }
    expect(found(tree)).toEqual([`${folder}b.ts:1 cycle`])
  })

  test('a cycle is found through components and lazy imports', () => {
    const tree = {
      'web/src/ui/a.tsx': "import { b } from './b.tsx'\nexport const a = b\n",
      'web/src/ui/b.tsx': "export const b = () => import('./a.tsx')\n",
    }
    expect(found(tree)).toEqual(['web/src/ui/b.tsx:1 cycle'])
  })

  test('only the wiring chooses the technology behind a port', () => {
    const tree = {
      'src/ledger/ledger.ts': 'export type Ledger = string\n',
      'src/ledger/sqlite-steps.ts': 'export const step = 1\n',
      'src/ledger/sqlite-ledger.ts': "import { step } from './sqlite-steps.ts'\nexport const open = step\n",
      'src/gateway.ts': "import { open } from './ledger/sqlite-ledger.ts'\nexport const gateway = open\n",
      'src/relay/a.ts': "import { open } from '../ledger/sqlite-ledger.ts'\nexport const a = open\n",
      'src/relay/a.test.ts': "import { open } from '../ledger/sqlite-ledger.ts'\nopen()\n",
    }
    expect(found(tree)).toEqual(['src/relay/a.ts:1 ports'])
  })

  test('a dialect imports core and no other dialect, and core imports no dialect', () => {
    const tree = {
      'src/formats/chat/a.ts': "import { b } from '../core/b.ts'\nexport const a = b\n",
      'src/formats/core/b.ts': "import { c } from '../gemini/c.ts'\nexport const b = c\n",
      'src/formats/gemini/c.ts': "import { a } from '../chat/d.ts'\nexport const c = a\n",
      'src/formats/chat/c.test.ts': "import { c } from '../gemini/c.ts'\nc()\n",
    }
    expect(found(tree)).toEqual(['src/formats/core/b.ts:1 dialects', 'src/formats/gemini/c.ts:1 dialects'])
  })

  test('a name is exported by one file, and a type is a noun', () => {
    const tree = {
      'src/lib/a.ts': 'export const one = 1\nexport type Seed = number\nexport type Told = string\n',
      'src/lib/b.ts': 'export function one() {}\ntype Moved = 1\nexport class MovedThing { at?: Moved }\n',
      'src/lib/b.test.ts': 'export const one = 1\n',
    }
    expect(found(tree)).toEqual(['src/lib/a.ts:3 participle', 'src/lib/b.ts:1 name-twice', 'src/lib/b.ts:2 participle'])
  })

  test('a module that declares a limit is listed', () => {
    const declares = "import { limit } from '../lib/primitives/limit.ts'\nexport const a = limit('aMax', 1, 'Stops.')\n"
    const tree = {
      'src/relay/listed.ts': declares,
      'src/relay/forgotten.ts': declares.replace('const a', 'const b'),
      'src/fixed-limits.ts': "import './relay/listed.ts'\n",
    }
    expect(found(tree)).toEqual(['src/relay/forgotten.ts:1 limit'])
  })

  test('main, a worker or a test of its own imports every file', () => {
    const tree = {
      'src/lib/worker-part.ts': 'export const a = 1\n',
      'src/lib/x-worker.ts': "import { a } from './worker-part.ts'\nexport const b = a\n",
      'src/lib/tested.ts': 'export const c = 1\n',
      'src/lib/tested.test.ts': "import { c } from './tested.ts'\nc()\n",
      'src/lib/lonely.ts': 'export const d = 1\n',
    }
    expect(found(tree)).toEqual([])
    expect(found({ ...tree, 'src/main.ts': 'export const m = 1\n' })).toEqual(['src/lib/lonely.ts:1 orphan'])
  })
})

describe('in a file', () => {
  const inLib = (text: string) => found({ 'src/lib/a.ts': text })

  test('the lines of nested functions count, except in a test', () => {
    const nested = `function inner() {\n${lines(60, '  a()')}}\n`
    const outer = (count: number) => `function outer() {\n${nested}${lines(count, '  a()')}}\n`
    expect(inLib(outer(6))).toEqual([])
    expect(inLib(outer(7))).toEqual(['src/lib/a.ts:1 function-lines'])
    expect(found({ 'src/lib/a.test.ts': outer(66) })).toEqual([])
    expect(found({ 'src/lib/a.test.ts': outer(67) })).toEqual(['src/lib/a.test.ts:1 function-lines'])
    expect(inLib(`const o = {\n  m() {\n${lines(69, 'a()')}  },\n}\n`)).toEqual(['src/lib/a.ts:2 function-lines'])
  })

  test('files are short, a reason or a test allows more lines, and data may have any length', () => {
    const long = lines(401, 'a()')
    const reason = '/** One. Over 300 lines: the states of one machine, which are read together. */\n'
    expect(inLib(lines(301, 'a()'))).toEqual(['src/lib/a.ts:301 file-lines'])
    expect(inLib(lines(300, 'a()'))).toEqual([])
    expect(inLib(reason + lines(399, 'a()'))).toEqual([])
    expect(inLib(reason + lines(400, 'a()'))).toEqual(['src/lib/a.ts:401 file-lines'])
    expect(found({ 'src/lib/a.test.ts': long, 'src/vendors/presets.ts': long, 'src/lib/a.gen.ts': long })).toEqual([])
    expect(found({ 'test/a.ts': lines(801, 'a()') })).toEqual(['test/a.ts:801 file-lines'])
  })

  test('lines are short unless a literal or a URL makes them long', () => {
    const long = 'x'.repeat(121)
    expect(inLib(`// ${long}\na('${long}', \`\n${long}\n\`)\n// https://${long}\n`)).toEqual([
      'src/lib/a.ts:1 line-length',
    ])
    expect(found({ 'test/fixtures/a.ts': `// ${long}\n` })).toEqual([])
  })

  test('no empty catch, default export or enum', () => {
    const text = `try { a() } catch {}\na().catch(() => {})\nexport enum E { A }\nexport default a\n`
    const rules = ['empty-catch', 'empty-catch', 'enum', 'default-export']
    expect(inLib(text)).toEqual(rules.map((rule, i) => `src/lib/a.ts:${i + 1} ${rule}`))
    expect(inLib('try { a() } catch { b() }\ntry { a() } catch { /* gone already */ }\n')).toEqual([])
    expect(inLib('a().catch(() => undefined)\n')).toEqual([])
    expect(found({ 'test/a.config.ts': 'export default 1\n' })).toEqual([])
  })

  test('no barrels', () => {
    expect(inLib("import { b } from './b.ts'\nexport * from './c.ts'\nexport { b }\n")).toEqual([
      'src/lib/a.ts:1 barrel',
    ])
    expect(inLib("export * from './c.ts'\nexport const own = 1\n")).toEqual([])
    expect(inLib("import './c.ts'\n")).toEqual([])
  })

  test('file names are in kebab-case and name an idea', () => {
    const paths = ['src/lib/time-utils.ts', 'src/lib/common/a.ts', 'src/lib/keyFormat.ts', 'src/lib/news.ts']
    expect(found(Object.fromEntries(paths.map((path) => [path, 'a()\n'])))).toEqual([
      'src/lib/common/a.ts:1 file-name',
      'src/lib/keyFormat.ts:1 file-name',
      'src/lib/time-utils.ts:1 file-name',
    ])
  })

  test('SQL stands only in folders that own a table', () => {
    const text =
      'a("DELETE FROM t")\na(`\n  select x from ${t}`)\na(`INSERT OR IGNORE INTO ${t}`)\na("update t set x=1")\n'
    const at = (path: string, where: number[]) => where.map((line) => `${path}:${line} sql`)
    expect(found({ 'src/relay/a.ts': text })).toEqual(at('src/relay/a.ts', [1, 2, 4, 5]))
    expect(found({ 'src/ledger/a.ts': text, 'src/relay/a.test.ts': text, 'test/a.ts': text })).toEqual([])
    expect(found({ 'src/relay/a.ts': "method === 'DELETE' || a('Select a model from the list')\n" })).toEqual([])
  })

  test('the domain names no vendor, in code or in a comment', () => {
    const text = [
      '// As OpenAI counts.',
      'export const gptImage = 1',
      "export const a = 'gemini'",
      'export const together = 2',
      '',
    ].join('\n')
    expect(found({ 'src/domain/a.ts': text })).toEqual([1, 2, 3].map((line) => `src/domain/a.ts:${line} vendor`))
    expect(found({ 'src/domain/turn.ts': "export const b = 'gemini'\n", 'src/vendors/a.ts': text })).toEqual([])
  })

  test('pure folders do not reach for the clock, the environment or the network', () => {
    const text = 'fetch(u)\nDate.now()\nnew Date()\nprocess.env\nnew Date(1)\nx.fetch()\n'
    expect(found({ 'src/router/a.ts': text })).toEqual([1, 2, 3, 4].map((line) => `src/router/a.ts:${line} pure`))
    expect(found({ 'src/relay/a.ts': text, 'src/router/a.test.ts': text })).toEqual([])
  })

  test('a file that does not parse is reported', () => {
    expect(inLib('const = 1\n')).toEqual(['src/lib/a.ts:1 syntax'])
  })
})

describe('in any text', () => {
  test('a document has one title', () => {
    expect(found({ 'README.md': '# A\n```sh\n# comment\n```\n## B\n' })).toEqual([])
    expect(found({ 'README.md': '# A\n\n# B\n', 'docs/a.md': 'text\n' })).toEqual([
      'docs/a.md:1 one-title',
      'README.md:3 one-title',
    ])
  })

  test('the map of the code stays short', () => {
    expect(found({ 'ARCHITECTURE.md': `# A\n${lines(149, 'text')}` })).toEqual([])
    expect(found({ 'ARCHITECTURE.md': `# A\n${lines(150, 'text')}` })).toEqual(['ARCHITECTURE.md:151 file-lines'])
  })

  test('no text names a folder of one machine or a registry', () => {
    const folder = (name: string) => `/${name}/me/x`
    const registry = ['registry', 'example', 'org'].join('.')
    const text = `see ${folder('home')}\n"${folder('Users')}"\nhttps://${registry}/a\n`
    const rules = ['machine-path', 'machine-path', 'registry-host']
    expect(found({ 'deploy/x.sh': text })).toEqual(rules.map((rule, i) => `deploy/x.sh:${i + 1} ${rule}`))
    expect(found({ 'deploy/x.sh': `/v1${folder('home')} registry.models.get() ~${folder('work')}\n` })).toEqual([])
  })

  test('the lockfile names no host and leaves no platform package out', () => {
    const entry = { resolved: 'https://host/a.tgz', optionalDependencies: { b: '1.0.0', c: '1.0.0' } }
    const packages = { '': {}, 'node_modules/a': entry, 'node_modules/a/node_modules/b': {} }
    const text = JSON.stringify({ packages }, null, 2)
    expect(found({ 'package-lock.json': text })).toEqual([
      'package-lock.json:4 registry-host',
      'package-lock.json:4 lock-gap',
    ])
  })
})
