// The long forms of the proofs in test/soaks.json. Each repeats its test file in rounds, each with a new seed, until it
// reaches the count or the time is over. A round has the short form's count, or `round`. If the count is a size
// (seconds, or clients at once), one round has all of it. A soak that fails prints the test's output; the others still
// run.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bunEnv } from '../bin/bun-env.js'
import { findBun } from '../bin/find-bun.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const HELP = `npm run soak -- [options]

The long forms of the proofs: they take hours, where npm test takes minutes. Exits with 1 if one of them fails.

  --only NAME      runs this soak and those named NAME-…; repeatable
  --count N        repeats this many times instead of the soak's own count
  --minutes N      runs each soak this long; with --count, the first limit reached ends it
  --list           lists the soaks, their counts here and in npm test, and what they prove
  --help
`

const options = read()
/** Each test of a file has its own limit. This one is for a test process that never ends. */
const ROUND_TIMEOUT_MS = 3_600_000

const soaks = JSON.parse(readFileSync('test/soaks.json', 'utf8'))
const isMeant = (soak, name) => soak.name === name || soak.name.startsWith(`${name}-`)
const unknown = options.only.find((name) => !soaks.some((soak) => isMeant(soak, name)))
if (unknown !== undefined)
  refuse(`There is no soak '${unknown}'. The soaks are ${soaks.map(({ name }) => name).join(', ')}.`)
const chosen = soaks.filter((soak) => options.only.length === 0 || options.only.some((only) => isMeant(soak, only)))

if (options.help) {
  console.log(HELP)
} else if (options.list) {
  printTable([['name', 'CI', 'soak', 'unit', 'proves'], ...chosen.map(listed)])
} else {
  const results = []
  for (const soak of chosen) results.push(await run(soak))
  console.log()
  printTable([['name', 'result', 'done', 'unit', 'minutes', 'last figure'], ...results.map(cells)])
  process.exitCode = results.every(({ isOk }) => isOk) ? 0 : 1
}

function read() {
  const number = (name, text) => {
    if (text !== undefined && !(Number(text) > 0)) refuse(`--${name} is a number above 0, not '${text}'.`)
    return text === undefined ? undefined : Number(text)
  }
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        count: { type: 'string' },
        minutes: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    return { ...values, count: number('count', values.count), minutes: number('minutes', values.minutes) }
  } catch (error) {
    return refuse(error.message)
  }
}

function refuse(message) {
  console.error(`${message}\n\n${HELP}`)
  process.exit(2)
}

function listed({ name, ci, soak, unit, proves }) {
  return [name, String(ci), String(soak), unit, proves]
}

function cells({ soak, isOk, done, startedMs, endedMs, figure }) {
  const minutes = ((endedMs - startedMs) / 60_000).toFixed(1)
  return [soak.name, isOk ? 'held' : 'BROKEN', String(done), soak.unit, minutes, figure]
}

/** Runs a soak until its count, its time or its first failure. */
async function run(soak) {
  const startedMs = Date.now()
  const untilMs = startedMs + (options.minutes ?? Infinity) * 60_000
  // With a time and no count, only the time decides.
  const target = options.count ?? (options.minutes === undefined ? soak.soak : Infinity)
  const state = { soak, isOk: true, done: 0, startedMs, endedMs: startedMs, figure: '' }
  while (state.isOk && state.done < target && Date.now() < untilMs) {
    const count = Math.min(soak.round ?? soak.ci, target - state.done)
    const { isOk, output } = await runRound(soak, count)
    state.isOk = isOk
    state.endedMs = Date.now()
    if (isOk) state.done += count
    else console.log(output.trimEnd())
    state.figure = /^figure: (.*)$/m.exec(output)?.[1] ?? ''
    const of = Number.isFinite(target) ? ` of ${target}` : ''
    const minutes = Math.round((state.endedMs - startedMs) / 60_000)
    console.log(`${soak.name}: ${state.done}${of} ${soak.unit}, ${minutes} min: ${isOk ? state.figure : 'BROKEN'}`)
  }
  return state
}

function runRound({ file, variable }, count) {
  const env = {
    ...process.env,
    [variable]: String(count),
    TOLLGATE_SEED: process.env.TOLLGATE_SEED ?? String(Math.floor(Math.random() * 2 ** 31)),
    BUN_CONFIG_MAX_HTTP_REQUESTS: bunEnv.BUN_CONFIG_MAX_HTTP_REQUESTS,
  }
  const args = ['test', '--timeout=60000', '--no-env-file', '--no-orphans', `./${file}`]
  const child = spawn(findBun(), args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: ROUND_TIMEOUT_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ isOk: code === 0, output }))
  })
}

function printTable(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((cells) => cells[i].length)))
  for (const cells of lines)
    console.log(
      cells
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
}
