// node tools/clients.js [update] [options]: installs the coding agents that test/agents/programs.ts names, at their
// pinned versions or at the newest, runs each against every strict vendor, and writes README's table of them.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const HELP = `npm run clients -- [options]; npm run clients:update takes the newest versions first, and pins them

  --only TEXT      runs whose program, model and vendor match this regular expression; README's table does not change
  --package NAME   only these packages; repeatable; README's table does not change
  --install        installs missing packages and runs nothing
  --help

They are installed in the folder that TOLLGATE_CLIENTS names, .tmp/clients otherwise: about 2.5 GB.
`
const PINS = 'test/agents/pins.json'
const README = 'README.md'
const INSTALL_TIMEOUT_MS = 900_000
const MARK = /(<!-- clients -->\n)[^]*?(\n<!-- \/clients -->)/

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    package: { type: 'string', multiple: true },
    install: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
if (options.help) {
  console.log(HELP)
  process.exit(0)
}
const folder = process.env.TOLLGATE_CLIENTS ?? join(process.cwd(), '.tmp/clients')
mkdirSync(folder, { recursive: true })

const pins = JSON.parse(readFileSync(PINS, 'utf8'))
const missing = []
for (const [registry, name] of Object.keys(pins).flatMap((of) => Object.keys(pins[of]).map((name) => [of, name]))) {
  if (options.package?.includes(name) === false) continue
  const wanted = positionals[0] === 'update' ? undefined : pins[registry][name]
  try {
    pins[registry][name] = install(registry, name, wanted)
  } catch (error) {
    missing.push(name)
    console.error(`${name} ${wanted ?? ''} cannot be installed: ${error.message}`)
  }
}
writeFileSync(PINS, `${JSON.stringify(pins, null, 2)}\n`)
if (options.install) process.exit(missing.length === 0 ? 0 : 1)

const report = join(mkdtempSync(join(tmpdir(), 'tollgate-clients-')), 'runs.jsonl')
writeFileSync(report, '')
const code = await run()
const runs = readFileSync(report, 'utf8').split('\n').filter(Boolean).map(JSON.parse)
const table = tableOf(runs)
console.log(table)
if (options.only === undefined && options.package === undefined && runs.length > 0) {
  writeFileSync(
    README,
    readFileSync(README, 'utf8').replace(MARK, (_, head, tail) => head + table + tail),
  )
}
process.exitCode = code === 0 && missing.length === 0 ? 0 : 1

/** Installs a package into a folder of its own, unless it is already there. Returns its version. */
function install(registry, name, wanted) {
  const version = wanted ?? newest(registry, name)
  const place = join(folder, `${name.replaceAll(/\W+/g, '-')}-${version}`)
  if (existsSync(place)) return version
  console.log(`installing ${name} ${version}`)
  const fresh = mkdtempSync(join(folder, 'new-'))
  try {
    if (registry === 'pypi') {
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', fresh]
      call('python3', [...pip, `${name}==${version}`])
    } else {
      // Without install scripts none of their code runs before the test. Their binaries are packages for each platform.
      const quiet = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
      call('npm', ['install', '--prefix', fresh, ...quiet, `${name}@${version}`])
    }
    if (readdirSync(fresh).length === 0) throw new Error('nothing was installed')
    renameSync(fresh, place)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return version
}

function newest(registry, name) {
  if (registry === 'npm') return call('npm', ['view', name, 'version']).trim()
  const said = call('python3', ['-m', 'pip', 'index', 'versions', '--disable-pip-version-check', name.split('[')[0]])
  const version = /\(([^)]+)\)/.exec(said)?.[1]
  if (version === undefined) throw new Error(`pip names no version: ${said.slice(0, 200)}`)
  return version
}

function call(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS })
  if (error) throw error
  if (status !== 0) throw new Error(stderr.trim().split('\n').at(-1))
  return stdout
}

function run() {
  const env = { ...process.env, TOLLGATE_CLIENTS: folder, TOLLGATE_CLIENTS_REPORT: report }
  if (options.only !== undefined) env.TOLLGATE_CLIENTS_ONLY = options.only
  if (options.package !== undefined) env.TOLLGATE_CLIENTS_PACKAGES = options.package.join(' ')
  const child = spawn(process.execPath, ['tools/test.js', './test/agents/clients.test.ts'], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.on('exit', resolve))
}

/** Programs by version, and vendors. A cell says how many runs succeeded: all, or a number. */
function tableOf(all) {
  const vendors = [...new Set(all.map(({ vendor }) => vendor))]
  const programs = new Set(all.map(({ program, version }) => `${program} ${version}`))
  const rows = [...programs].map((program) => {
    const its = all.filter((one) => `${one.program} ${one.version}` === program)
    const models = [...new Set(its.map(({ model }) => model))].join(', ')
    const cells = vendors.map((vendor) => {
      const those = its.filter((one) => one.vendor === vendor)
      const good = those.filter(({ problems }) => problems.length === 0)
      return good.length === those.length ? 'yes' : `${good.length} of ${those.length}`
    })
    return `| ${[program, models, ...cells].join(' | ')} |`
  })
  const head = ['Program', 'Names of its models', ...vendors]
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n')
}
