/**
 * node bench/run.js console [--requests N] [--rounds N] [--assert]: how long the calls of the console's pages take over
 * a month of a million requests, and how much they slow down chat. Medians. The bar is 50 ms a call.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seed, type SeededAccounts } from './console-seed.ts'
import { spawnVisitor, type Visit } from './console-visitor.ts'
import { freePort, start, type Field, type Running } from './contender.ts'
import { dataOf, operate, ROOT, tollgate } from './contenders/tollgate.ts'
import { hireCrew, type Crew } from './crew.ts'
import { diskFolder } from './disk-folder.ts'
import { addressOf, measure, type Target } from './measure.ts'
import { cases, models, type Case } from './workload.ts'

const BAR_MS = 50
const P99_FACTOR = 1.1
const WAIT_MS = 60_000

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '25' },
    'chat-rounds': { type: 'string', default: '15' },
    assert: { type: 'boolean', default: false },
  },
})

/** Chat beside the console: one client that sends request after request, and many that wait for a vendor. */
const chats: readonly Case[] = cases
  .filter(({ id }) => id === 'whole-2k-c1' || id === 'whole-2k-think-c32')
  .map((work) => ({ ...work, runMs: 3_000 }))

async function serve(field: Field): Promise<Running> {
  const running = await start(tollgate({ name: 'tollgate', root: ROOT, bunArgs: [] }), field)
  if (!running) throw new Error('Bun is missing')
  return running
}

type Headers = Readonly<Record<string, string>>

/** Every call of a page that reads from the store, the expensive ones first. */
const callsOf = ({
  accountId,
  keyId,
  rareKeyId,
  requestId,
}: SeededAccounts): readonly (readonly [string, string])[] => {
  const at = `/accounts/${accountId}`
  const month = `from=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`
  return [
    ['overview, 24 h', `${at}/overview?range=24h`],
    ['overview, 7 days', `${at}/overview?range=7d`],
    ['overview, 30 days', `${at}/overview?range=30d`],
    ['usage, 30 days by day and model', `${at}/usage?${month}&by=model`],
    ['usage, 30 days by day and key', `${at}/usage?${month}&by=key`],
    ['usage, 30 days by hour', `${at}/usage?${month}&step=hour`],
    ['usage, 7 days by hour and endpoint', `${at}/usage?step=hour&by=endpoint`],
    ['usage, 30 days of one key', `${at}/usage?${month}&key=${keyId}`],
    ['requests, the newest', `${at}/requests`],
    ['requests, of a key', `${at}/requests?key=${keyId}`],
    ['requests, of a key used 1 in 100,000', `${at}/requests?key=${rareKeyId}`],
    ['requests, failed', `${at}/requests?outcome=failed`],
    ['requests, failed of a model', `${at}/requests?outcome=failed&model=model-11`],
    ['requests, dear ones', `${at}/requests?charged_min_nano_usd=4999000`],
    ['requests, none that slow', `${at}/requests?total_ms_min=60000`],
    ['requests, from the middle', `${at}/requests?cursor=${requestId}`],
    ['request, one', `${at}/requests/${requestId}`],
    ['request, anywhere', `/requests/${requestId}`],
    ['tasks', `${at}/tasks`],
    ['keys', `${at}/keys`],
    ['models of an account', `${at}/models`],
    ['ledger, this month', `${at}/ledger`],
    ['holds', `${at}/holds`],
    ['accounts', '/accounts'],
    ['accounts, searched', '/accounts?q=seeded%204'],
    ['models', '/models'],
    ['providers', '/providers'],
    ['health', '/health'],
    ['usage of all accounts, 7 days by account', '/usage?by=account'],
    ['usage of all accounts, 30 days by model', `/usage?${month}&by=model`],
    ['audit log', '/audit'],
    ['codes', '/codes'],
    ['users', '/users'],
  ]
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

type TimedVisit = { readonly name: string; readonly p50: number; readonly p95: number; readonly kib: number }

async function time(origin: string, headers: Headers, [name, path]: readonly [string, string]): Promise<TimedVisit> {
  const took: number[] = []
  let bytes = 0
  for (let i = 0; i <= Number(options.rounds); i++) {
    const startedMs = performance.now()
    const answer = await fetch(`${origin}/admin/v1${path}`, { headers })
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
    // The first call warms up what is compiled and cached once.
    if (i > 0) took.push(performance.now() - startedMs)
  }
  took.sort((a, b) => a - b)
  return { name, p50: quantile(took, 0.5), p95: quantile(took, 0.95), kib: bytes / 1024 }
}

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const ms = (value: number): string => value.toFixed(2).padStart(8)

/** Times the calls of every page. Returns whether one of them missed the bar. */
async function timeCalls(origin: string, calls: ReturnType<typeof callsOf>, visitor: Headers): Promise<boolean> {
  let missed = false
  show(`${'call'.padEnd(44)}  p50 ms    p95 ms       KiB`)
  for (const call of calls) {
    const { name, p50, p95, kib } = await time(origin, visitor, call)
    missed ||= p50 > BAR_MS
    show(`${name.padEnd(44)}${ms(p50)}  ${ms(p95)}  ${ms(kib)}${p50 > BAR_MS ? '  MISSED' : ''}`)
  }
  return missed
}

type Latency = { readonly p50: number; readonly p99: number }

/**
 * The latency that the gateway adds to chat, alone and with a visitor of the console, in turns. Returns whether its p99
 * missed the bar. Each round compares its own two measurements, a second apart. The median of the rounds counts.
 */
async function timeChat(crew: Crew, target: Target, visit: Visit, work: Case): Promise<boolean> {
  const direct: Target = {
    name: 'direct',
    address: addressOf(crew.upstreamPort, { basePath: '/v1', headers: {} }),
    running: undefined,
  }
  const latency = async (to: Target): Promise<Latency> => {
    const { report, problem } = await measure(crew, to, work)
    if (problem !== undefined) throw new Error(`${to.name}: ${problem}`)
    return report.totalMs
  }
  const vendor = await latency(direct)
  const added = async (): Promise<Latency> => {
    const { p50, p99 } = await latency(target)
    return { p50: p50 - vendor.p50, p99: p99 - vendor.p50 }
  }
  const rounds: { readonly alone: Latency; readonly beside: Latency; readonly factor: number }[] = []
  for (let i = 0; i < Number(options['chat-rounds']); i++) {
    const alone = await added()
    const visitor = spawnVisitor(visit)
    const beside = await added()
    await visitor.stop()
    rounds.push({ alone, beside, factor: beside.p99 / alone.p99 })
  }
  const median = (of: (round: (typeof rounds)[number]) => number): number =>
    quantile(
      rounds.map(of).toSorted((a, b) => a - b),
      0.5,
    )
  const factor = median((round) => round.factor)
  show(`\nadded to chat, p50 / p99 ms (${work.title}; clients: ${work.connections})`)
  show(`alone                    ${ms(median(({ alone }) => alone.p50))} /${ms(median(({ alone }) => alone.p99))}`)
  show(`with the console in use  ${ms(median(({ beside }) => beside.p50))} /${ms(median(({ beside }) => beside.p99))}`)
  const each = rounds.map((round) => round.factor.toFixed(2)).join(' ')
  show(`p99 × ${factor.toFixed(2)}, the median of ${each}; bar ${P99_FACTOR}${factor > P99_FACTOR ? '  MISSED' : ''}`)
  return factor > P99_FACTOR
}

const crew = await hireCrew()
const folder = mkdtempSync(join(diskFolder(), 'tollgate-console-bench-'))
let missed = false
let running: Running | undefined
try {
  const field: Field = { folder, port: await freePort(), upstreamPort: crew.upstreamPort, models }
  await (await serve(field)).stop()
  const startedMs = performance.now()
  const seeded = seed(dataOf(field), Number(options.requests))
  show(
    `${seeded.requests} requests in 30 days, half of them of one account (${Math.round((performance.now() - startedMs) / 1000)} s to write)\n`,
  )
  running = await serve(field)
  show(`${Math.round(await foldedMs(dataOf(field)))} ms until its days were summed up\n`)
  const origin = `http://127.0.0.1:${field.port}`
  const calls = callsOf(seeded)
  const headers = await signedIn(field, origin)
  missed = await timeCalls(origin, calls, headers)
  const target: Target = {
    name: 'tollgate',
    address: addressOf(field.port, { basePath: '/v1', headers: running.headers }),
    running,
  }
  // A server runs compiled code for days, so chat gets some seconds of load before anything is counted.
  for (const work of chats) await measure(crew, target, { ...work, runMs: 8_000 })
  const visit: Visit = { origin, headers, paths: calls.map(([, path]) => path) }
  for (const work of chats) missed = (await timeChat(crew, target, visit, work)) || missed
} finally {
  await running?.stop()
  crew.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (missed && options.assert) process.exit(1)

/** How long the server took to sum up the days while it served requests. */
async function foldedMs(data: string): Promise<number> {
  const startedMs = performance.now()
  const db = new Database(join(data, 'tollgate.db'), { readonly: true })
  // A day is summed up ten minutes after its end.
  const today = Math.floor((Date.now() - 600_000) / 86_400_000)
  try {
    const until = db.query('SELECT day FROM usage_days_until')
    while ((until.get() as { day: number }).day < today) {
      if (performance.now() - startedMs > WAIT_MS) throw new Error('the days were not summed up')
      await Bun.sleep(20)
    }
  } finally {
    db.close()
  }
  return performance.now() - startedMs
}

/** The cookie of an operator. */
async function signedIn(field: Field, origin: string): Promise<Headers> {
  const input = { name: 'bench', role: 'operator' }
  const { setup_path: path } = await operate(field, 'user.create', input)
  const body = JSON.stringify({ token: String(path).split('#')[1], password: 'a long bench password' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${origin}/admin/v1/links/redeem`, { method: 'POST', headers, body })
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
