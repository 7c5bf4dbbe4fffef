/** docs/operations.md and deploy/ match the code. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { presets } from '../../src/vendors/presets.ts'

const ROOT = resolve(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const guide = read('docs/operations.md')
const environment = guide.slice(guide.indexOf('## Environment'), guide.indexOf('## The data folder'))
const documented = new Set(
  [...environment.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  ),
)

/** Every way in which the code names a variable: by index, as a property, taken apart, or by a reading function. */
const readings = [
  /\benv\[["'](\w+)["']\]/g,
  /\benv\.([A-Z][A-Z0-9_]+)\b/g,
  /\(env, ["'](\w+)["']/g,
  /\bname: ["'](TOLLGATE_\w+)["']/g,
  /const \{ ([A-Z_, ]+) \} = (?:process\.)?env\b/g,
  /^ {2}([A-Z]\w+): ["'\w]/gm,
]
/** Names that a program's texts look like, in quotes: `TOLLGATE_API_KEY` is a default that `chat` hands on. */
const quoted = /["'](TOLLGATE_[A-Z_]+)["']/g

function variablesRead(): Set<string> {
  const files = [...new Bun.Glob('{src,bin}/**/*.{ts,js}').scanSync(ROOT)].filter((path) => !path.endsWith('.test.ts'))
  const found = new Set<string>()
  for (const path of files) {
    const text = read(path)
    // What the launcher sets is written as an object; elsewhere that shape is a constant.
    const patterns = path === 'bin/bun-env.js' ? readings : readings.slice(0, -1)
    for (const pattern of [...patterns, quoted]) {
      for (const [, names = ''] of text.matchAll(pattern)) for (const name of names.split(/, */)) found.add(name)
    }
  }
  return found
}

test('every variable that is read is in the table, and nothing else is', () => {
  const vendors = new Set(presets.flatMap(({ keyVariable }) => keyVariable ?? []))
  const found = variablesRead()
  expect([...found].filter((name) => !documented.has(name) && !vendors.has(name))).toEqual([])
  expect([...documented].filter((name) => !found.has(name) && !vendors.has(name))).toEqual([])
  expect(found.has('TOLLGATE_DRAIN_MS') && found.has('PORT') && found.has('TOLLGATE_BUN')).toBe(true)
})

test('the defaults in the table are those of the code', async () => {
  const { host, port, limits, logLevel } = await loadConfig({ TOLLGATE_DATA: ROOT })
  const lineOf = (name: string): string => environment.split('\n').find((line) => line.includes(`\`${name}\``)) ?? ''
  expect(lineOf('PORT')).toContain(`\`${port}\`, \`${host}\``)
  for (const [name, value] of Object.entries(limits)) {
    const variable = `TOLLGATE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
    expect(lineOf(variable)).toContain(`| \`${value}\` |`)
  }
  expect(lineOf('TOLLGATE_LOG')).toContain(`| \`${logLevel}\` |`)
})

test('every metric of the guide is one of the program', () => {
  const metrics = read('src/edge/metrics.ts')
  const named = [...guide.matchAll(/`((?:tollgate|process)_[a-z_]+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !metrics.includes(`'${name}'`))).toEqual([])
})

test('every log event of the guide is one of the program', () => {
  const sources = [...new Bun.Glob('{src,sandbox}/**/*.ts').scanSync(ROOT)].map(read).join('\n')
  const current = guide.replace(/\| Event \| Its name before \|[^]*?\n\n/, (table) =>
    table.replaceAll(/^(\|[^|]*\|).*$/gm, '$1'),
  )
  const events = [...current.matchAll(/`((?:store|ledger|usage|inbound|edge)\.[a-z_]+)/g)].map(([, name = '']) => name)
  expect(events.length).toBeGreaterThan(5)
  expect(events.filter((name) => !sources.includes(`'${name}'`))).toEqual([])
})

test('files that the guide points to are there', () => {
  const targets = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => join(ROOT, 'docs', target))
  expect(targets.filter((path) => !existsSync(path))).toEqual([])
})

test('whoever stops the server waits for longer than it drains', async () => {
  const secrets = { TOLLGATE_KEY_PEPPER: '0'.repeat(64), TOLLGATE_MASTER_KEY: '0'.repeat(64) }
  const shared = { TOLLGATE_DATA: ROOT, TOLLGATE_DATABASE_URL: 'postgres://127.0.0.1/tollgate', ...secrets }
  const { lameDuckMs, drainMs } = (await loadConfig(shared)).limits
  expect(lameDuckMs).toBe(10_000)
  // What drain.ts adds to the drain: two waits of 5 s, one of 1 s, and 2 s for the last spans.
  const neededS = (lameDuckMs + drainMs) / 1000 + 14
  const waits = [
    /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/tollgate.service')),
    /stop_grace_period: (\d+)s/.exec(read('deploy/compose.yaml')),
    /docker stop -t (\d+)/.exec(read('deploy/Dockerfile')),
  ]
  for (const wait of waits) expect(Number(wait?.[1])).toBeGreaterThan(neededS)
})

test('an image can hold what the program needs and nothing of the machine it is built on', () => {
  const lines = read('.dockerignore').split('\n')
  expect(lines.find((line) => line !== '' && !line.startsWith('#'))).toBe('*')
  const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  expect(admitted.toSorted()).toEqual([
    'LICENSE',
    'bin',
    'docs',
    'package-lock.json',
    'package.json',
    'sandbox',
    'src',
    'tools/bun.js',
    'tools/program.ts',
    'tools/viewer.js',
    'web',
  ])
  expect(lines).toContain('web/node_modules')
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  )
  const isWithin = (name: string, folder: string): boolean => name === folder || name.startsWith(`${folder}/`)
  expect(copied.filter((name) => !admitted.some((folder) => isWithin(name, folder)))).toEqual([])
  expect(admitted.filter((name) => !copied.includes(name))).toEqual([])
})
